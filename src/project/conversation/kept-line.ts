import { type Json, listOf, maySpace, nameOf, objectOf } from '../../text/json-fields.ts'

/** What is kept of a line, in the order in which it is written. The rest repeats itself, or is the harness's own. */
const FIELDS = [
  'type',
  'subtype',
  'uuid',
  'parentUuid',
  'logicalParentUuid',
  'timestamp',
  'isSidechain',
  'agentId',
  'isMeta',
  'isCompactSummary',
  'isApiErrorMessage',
  'requestId',
  'cwd',
  'gitBranch',
  'version',
  'message',
  'compactMetadata',
  'summary',
  'leafUuid',
]

/** What somebody typed while the agent worked, and what a hook gave: said, though not as a message. */
const ATTACHMENTS: Readonly<Record<string, readonly string[]>> = {
  queued_command: ['type', 'prompt', 'commandMode', 'origin', 'isMeta'],
  hook_additional_context: ['type', 'content', 'hookEvent', 'hookName'],
}

/** The words in which the model was told of it. */
const RENDERED = ['rendered', 'renderedRole']

const MARKS = [
  '"type":"user"',
  '"type":"assistant"',
  '"type":"summary"',
  '"subtype":"compact_boundary"',
  ...Object.keys(ATTACHMENTS).map((type) => `"type":"${type}"`),
  '"rendered":[',
].map((mark) => Buffer.from(mark))

/** Whether a line may be one that is kept, told without parsing it. */
export function mayBeKept(line: Buffer): boolean {
  return MARKS.some((mark) => line.includes(mark)) || maySpace(line)
}

const LINK = Buffer.from('"parentUuid":"')

/** Whether a line may be one that others follow, though nothing of it is kept. */
export function mayBeLink(line: Buffer): boolean {
  return line.includes(LINK)
}

/** What is kept of a line of a transcript: what was said, by whom and when. Of others that said lines may follow, what those follow. */
export function keptOf(line: Json): Json | undefined {
  return saidIn(line) ?? linkIn(line)
}

function linkIn({ uuid, parentUuid }: Json): Json | undefined {
  return nameOf(uuid) === undefined || nameOf(parentUuid) === undefined
    ? undefined
    : { type: 'link', uuid, parentUuid }
}

function saidIn(line: Json): Json | undefined {
  const { type, subtype } = line
  if (type === 'attachment') return keptAttachment(line)
  if (type === 'system' && subtype !== 'compact_boundary') return undefined
  if (type !== 'user' && type !== 'assistant' && type !== 'system' && type !== 'summary')
    return undefined
  const result = line['toolUseResult']
  const isLacking = type === 'user' && result !== undefined && !hasToolResult(line)
  return { ...pick(line, FIELDS), ...(isLacking ? { toolUseResult: result } : {}) }
}

function keptAttachment(line: Json): Json | undefined {
  const attachment = objectOf(line['attachment'])
  const type = attachment?.['type']
  if (attachment === undefined || typeof type !== 'string') return undefined
  const isKnown = Object.hasOwn(ATTACHMENTS, type)
  // Files, tools, the machine, the day: in the words in which the model was told. Clients that do not say so tell it anew each time.
  if (!isKnown && listOf(line['rendered']).length === 0) return undefined
  // Of a hook those would say the same again.
  const told = type === 'hook_additional_context' ? [] : RENDERED
  return {
    ...pick(line, [...FIELDS, ...told]),
    attachment: pick(attachment, isKnown ? ATTACHMENTS[type]! : ['type', 'filename']),
  }
}

/** The harness tells the outcome of a tool twice; as the model was told it is enough. */
function hasToolResult(line: Json): boolean {
  return listOf(objectOf(line['message'])?.['content']).some(
    (block) => objectOf(block)?.['type'] === 'tool_result',
  )
}

function pick(fields: Json, names: readonly string[]): Json {
  return Object.fromEntries(
    names.filter((name) => Object.hasOwn(fields, name)).map((name) => [name, fields[name]]),
  )
}
