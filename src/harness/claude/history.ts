import { basename, dirname, join } from 'node:path'
import { itemFromLine, messageFromSource } from '../../history/item-lines.ts'
import { isConversationId } from '../../history/paths.ts'
import type { HistoryItem, NewItem } from '../../history/items.ts'
import {
  type Json,
  asArray,
  mayBeSpacedJson,
  asName,
  asObject,
  parseJson,
} from '../../text/json-fields.ts'
import {
  type FileHistory,
  type HistoryFile,
  type HistoryHead,
  type HistoryTranslator,
  walkFiles,
  filesAtPath,
  readFirstObjects,
} from '../contract/history.ts'
import { configFolder } from './setup/paths.ts'
import { defined } from '../../text/defined.ts'

const HEAD_BYTES = 256 * 1024

export const claudeHistory: FileHistory = {
  form: 'files',
  name: 'claude',
  repeatsItems: false,
  hasStableIds: true,
  files: (env) => transcriptsIn(walkFiles(join(configFolder(env), 'projects'))),
  filesAt: (path) => transcriptsIn(filesAtPath(path)),
  head: headOf,
  createTranslator: (head, state) => new ClaudeTranslator(head, state),
}

function* transcriptsIn(paths: Iterable<string>): Generator<HistoryFile> {
  for (const path of paths) if (path.endsWith('.jsonl')) yield { path, form: 'lines' }
}

function headOf({ path }: HistoryFile): HistoryHead | undefined {
  const name = basename(path, '.jsonl')
  // Sub-agents have files of their own.
  const isAgent = name.startsWith('agent-')
  for (const line of readFirstObjects(path, HEAD_BYTES)) {
    const sessionId = asName(line.sessionId)
    const conversation = isAgent ? (folderOfAgent(path) ?? sessionId) : name
    const cwd = asName(line.cwd, 4096)
    if (sessionId === undefined || cwd === undefined) continue
    return isConversationId(conversation) ? { conversation, cwd } : undefined
  }
  return undefined
}

function folderOfAgent(path: string): string | undefined {
  const folder = dirname(path)
  return basename(folder) === 'subagents' ? basename(dirname(folder)) : undefined
}

const MESSAGE_PATTERNS = [
  '"type":"user"',
  '"type":"assistant"',
  '"subtype":"compact_boundary"',
  '"type":"queued_command"',
  '"type":"hook_additional_context"',
  '"rendered":[',
].map((pattern) => Buffer.from(pattern))
/** Other lines that begin with their type are internal to Claude Code. */
const TYPE = Buffer.from('{"type":"')
const MESSAGE_TYPES = ['user"', 'assistant"', 'system"', 'attachment"'].map((name) =>
  Buffer.from(name),
)

function mayHoldMessage(line: Buffer): boolean {
  if (line.subarray(0, TYPE.length).equals(TYPE)) {
    const rest = line.subarray(TYPE.length, TYPE.length + 20)
    if (!MESSAGE_TYPES.some((name) => rest.indexOf(name) === 0)) return false
  }
  return MESSAGE_PATTERNS.some((pattern) => line.includes(pattern)) || mayBeSpacedJson(line)
}

const TOOL_RESULT = Buffer.from(',"toolUseResult":')
const PARENT = Buffer.from('"parentUuid":"')
/** A skipped line is still parsed for its parent, unless it is very long. */
const MAX_LINK_BYTES = 64 * 1024
const PARENT_SEARCH_BYTES = 400
const MAX_LINKS = 2000
const SAVED_LINKS = 20

class ClaudeTranslator implements HistoryTranslator {
  readonly #head: HistoryHead
  #hasBegun: boolean
  readonly #links: Map<string, string>

  constructor(head: HistoryHead, state: Json) {
    this.#head = head
    this.#hasBegun = state.hasBegun === true
    this.#links = new Map(asArray(state.links) as [string, string][])
  }

  translate(line: Buffer): readonly NewItem[] | 'damaged' {
    if (!mayHoldMessage(line)) return this.#skip(line)
    const { fields, source } = parseTranscriptLine(line)
    if (fields === undefined) return 'damaged'
    const asWritten =
      source === undefined
        ? undefined
        : messageFromSource(fields, source, this.#resolveParent(asName(fields.parentUuid)))
    if (asWritten !== undefined) return [...this.#began(fields), asWritten, ...exitItem(fields)]
    const item = itemFromLine(fields)
    if (item === undefined) {
      this.#link(fields)
      return []
    }
    const withParent =
      item.type === 'message'
        ? { ...item, ...defined({ parent: this.#resolveParent(item.parent) }) }
        : item
    return [...this.#began(fields), withParent, ...exitItem(fields)]
  }

  state(): Json {
    return { hasBegun: this.#hasBegun, links: [...this.#links].slice(-SAVED_LINKS) }
  }

  #began(fields: Json): readonly HistoryItem[] {
    const at = asName(fields.timestamp)
    if (this.#hasBegun || at === undefined || fields.isSidechain === true) return []
    this.#hasBegun = true
    const { conversation } = this.#head
    return [
      {
        type: 'began',
        conversation,
        harness: 'claude',
        at,
        ...defined({ cwd: asName(fields.cwd, 4096) ?? this.#head.cwd }),
      },
    ]
  }

  #skip(line: Buffer): readonly HistoryItem[] | 'damaged' {
    if (line[0] !== 0x7b) return 'damaged'
    if (line.length > MAX_LINK_BYTES || !line.subarray(0, PARENT_SEARCH_BYTES).includes(PARENT))
      return []
    const fields = asObject(parseJson(line.toString('utf8')))
    if (fields === undefined) return 'damaged'
    this.#link(fields)
    return []
  }

  #link(fields: Json): void {
    const [id, parent] = [asName(fields.uuid), asName(fields.parentUuid)]
    if (id === undefined || parent === undefined) return
    this.#links.set(id, this.#resolveParent(parent)!)
    if (this.#links.size > MAX_LINKS) this.#links.delete(this.#links.keys().next().value!)
  }

  #resolveParent(parent: string | undefined): string | undefined {
    return parent === undefined ? undefined : (this.#links.get(parent) ?? parent)
  }
}

interface ParsedLine {
  readonly fields: Json | undefined
  readonly source?: string
}

/**
 * Drops `toolUseResult`, often most of the line and never sent to the model. Quotes inside strings
 * are escaped, so the name is a real key.
 */
function parseTranscriptLine(line: Buffer): ParsedLine {
  const at = line.indexOf(TOOL_RESULT)
  if (at !== -1) {
    const before = parseAroundMessage(`${line.toString('utf8', 0, at)}}`)
    if (
      before.fields !== undefined &&
      hasRequiredFields(before.fields) &&
      hasNoLateFields(line, at)
    )
      return before
  }
  return parseAroundMessage(line.toString('utf8'))
}

const MESSAGE = ',"message":'
const AFTER_MESSAGE = '},"uuid":"'

/** Parsed in two pieces, so that the message's source text is known. */
function parseAroundMessage(text: string): ParsedLine {
  const start = text.indexOf(MESSAGE) + MESSAGE.length
  const end = text.lastIndexOf(AFTER_MESSAGE) + 1
  if (start >= MESSAGE.length && start < end) {
    const envelope = asObject(parseJson(`${text.slice(0, start)}null${text.slice(end)}`))
    const source = text.slice(start, end)
    // `message` was found inside another object.
    const message = envelope?.message === null ? asObject(parseJson(source)) : undefined
    if (message !== undefined) return { fields: { ...envelope, message }, source }
  }
  return { fields: asObject(parseJson(text)) }
}

function hasRequiredFields(fields: Json): boolean {
  return ['type', 'uuid', 'timestamp', 'message'].every((name) => Object.hasOwn(fields, name))
}

const LATE_FIELDS = ['"isMeta":', '"isCompactSummary":', '"isApiErrorMessage":', '"agentId":'].map(
  (name) => Buffer.from(name),
)
const TAIL_BYTES = 600

function hasNoLateFields(line: Buffer, at: number): boolean {
  const tail = line.subarray(Math.max(at + TOOL_RESULT.length, line.length - TAIL_BYTES))
  return !LATE_FIELDS.some((name) => tail.includes(name))
}

const EXIT = /<command-name>\/(exit|quit)<\/command-name>/

function exitItem(fields: Json): readonly HistoryItem[] {
  const content = asObject(fields.message)?.content
  const at = asName(fields.timestamp)
  if (fields.type !== 'user' || typeof content !== 'string' || at === undefined) return []
  const command = EXIT.exec(content.slice(0, 500))?.[1]
  return command === undefined ? [] : [{ type: 'ended', at, reason: `/${command}` }]
}
