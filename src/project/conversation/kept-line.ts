import { type Json, listOf, maySpace, nameOf, objectOf } from '../../text/json-fields.ts'

/** In the order written. The rest repeats, or is internal to the harness. */
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

/** Typed while the agent worked, or injected by a hook. */
const ATTACHMENTS: Readonly<Record<string, readonly string[]>> = {
  queued_command: ['type', 'prompt', 'commandMode', 'origin', 'isMeta'],
  hook_additional_context: ['type', 'content', 'hookEvent', 'hookName'],
}

const RENDERED = ['rendered', 'renderedRole']

const MARKS = [
  '"type":"user"',
  '"type":"assistant"',
  '"type":"summary"',
  '"subtype":"compact_boundary"',
  ...Object.keys(ATTACHMENTS).map((type) => `"type":"${type}"`),
  '"rendered":[',
].map((mark) => Buffer.from(mark))

/** Checked without parsing. */
export function mayBeKept(line: Buffer): boolean {
  return MARKS.some((mark) => line.includes(mark)) || maySpace(line)
}

const LINK = Buffer.from('"parentUuid":"')

export function mayBeLink(line: Buffer): boolean {
  return line.includes(LINK)
}

/** What was said, by whom and when; of other lines only their parent. */
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
  // Only as the model read it; clients that do not record that repeat it every time.
  if (!isKnown && listOf(line['rendered']).length === 0) return undefined
  // For a hook they repeat the content.
  const told = type === 'hook_additional_context' ? [] : RENDERED
  return {
    ...pick(line, [...FIELDS, ...told]),
    attachment: pick(attachment, isKnown ? ATTACHMENTS[type]! : ['type', 'filename']),
  }
}

/** The harness records a tool's outcome twice; the model's version is enough. */
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
