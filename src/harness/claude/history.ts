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
  createTranslator: (head, memory) => new ClaudeTranslator(head, memory),
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

const MARKS = [
  '"type":"user"',
  '"type":"assistant"',
  '"subtype":"compact_boundary"',
  '"type":"queued_command"',
  '"type":"hook_additional_context"',
  '"rendered":[',
].map((mark) => Buffer.from(mark))
/** Other lines that begin with their type are internal to Claude Code. */
const TYPE = Buffer.from('{"type":"')
const SAYING = ['user"', 'assistant"', 'system"', 'attachment"'].map((name) => Buffer.from(name))

function maySay(line: Buffer): boolean {
  if (line.subarray(0, TYPE.length).equals(TYPE)) {
    const rest = line.subarray(TYPE.length, TYPE.length + 20)
    if (!SAYING.some((name) => rest.indexOf(name) === 0)) return false
  }
  return MARKS.some((mark) => line.includes(mark)) || mayBeSpacedJson(line)
}

const RESULT = Buffer.from(',"toolUseResult":')
const PARENT = Buffer.from('"parentUuid":"')
/** A skipped line is still parsed for its parent, unless it is very long. */
const LONGEST_LINK = 64 * 1024
const PARENT_WITHIN = 400
const MOST_LINKS = 2000
const KEPT_LINKS = 20

class ClaudeTranslator implements HistoryTranslator {
  readonly #head: HistoryHead
  #hasBegun: boolean
  readonly #links: Map<string, string>

  constructor(head: HistoryHead, memory: Json) {
    this.#head = head
    this.#hasBegun = memory.hasBegun === true
    this.#links = new Map(asArray(memory.links) as [string, string][])
  }

  translate(line: Buffer): readonly NewItem[] | 'damaged' {
    if (!maySay(line)) return this.#passOver(line)
    const { fields, source } = parsed(line)
    if (fields === undefined) return 'damaged'
    const asWritten =
      source === undefined
        ? undefined
        : messageFromSource(fields, source, this.#resolved(asName(fields.parentUuid)))
    if (asWritten !== undefined) return [...this.#began(fields), asWritten, ...endedBy(fields)]
    const item = itemFromLine(fields)
    if (item === undefined) {
      this.#link(fields)
      return []
    }
    const placed =
      item.type === 'message'
        ? { ...item, ...defined({ parent: this.#resolved(item.parent) }) }
        : item
    return [...this.#began(fields), placed, ...endedBy(fields)]
  }

  state(): Json {
    return { hasBegun: this.#hasBegun, links: [...this.#links].slice(-KEPT_LINKS) }
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

  #passOver(line: Buffer): readonly HistoryItem[] | 'damaged' {
    if (line[0] !== 0x7b) return 'damaged'
    if (line.length > LONGEST_LINK || !line.subarray(0, PARENT_WITHIN).includes(PARENT)) return []
    const fields = asObject(parseJson(line.toString('utf8')))
    if (fields === undefined) return 'damaged'
    this.#link(fields)
    return []
  }

  #link(fields: Json): void {
    const [id, parent] = [asName(fields.uuid), asName(fields.parentUuid)]
    if (id === undefined || parent === undefined) return
    this.#links.set(id, this.#resolved(parent)!)
    if (this.#links.size > MOST_LINKS) this.#links.delete(this.#links.keys().next().value!)
  }

  #resolved(parent: string | undefined): string | undefined {
    return parent === undefined ? undefined : (this.#links.get(parent) ?? parent)
  }
}

interface Parsed {
  readonly fields: Json | undefined
  readonly source?: string
}

/**
 * Drops `toolUseResult`, often most of the line and never sent to the model. Quotes inside strings
 * are escaped, so the name is a real key.
 */
function parsed(line: Buffer): Parsed {
  const at = line.indexOf(RESULT)
  if (at !== -1) {
    const before = inTwo(`${line.toString('utf8', 0, at)}}`)
    if (before.fields !== undefined && hasAll(before.fields) && isPlain(line, at)) return before
  }
  return inTwo(line.toString('utf8'))
}

const MESSAGE = ',"message":'
const BEHIND_MESSAGE = '},"uuid":"'

/** Parsed in two pieces, so that the message's source text is known. */
function inTwo(text: string): Parsed {
  const start = text.indexOf(MESSAGE) + MESSAGE.length
  const end = text.lastIndexOf(BEHIND_MESSAGE) + 1
  if (start >= MESSAGE.length && start < end) {
    const around = asObject(parseJson(`${text.slice(0, start)}null${text.slice(end)}`))
    const source = text.slice(start, end)
    // `message` was found inside another object.
    const message = around?.message === null ? asObject(parseJson(source)) : undefined
    if (message !== undefined) return { fields: { ...around, message }, source }
  }
  return { fields: asObject(parseJson(text)) }
}

function hasAll(fields: Json): boolean {
  return ['type', 'uuid', 'timestamp', 'message'].every((name) => Object.hasOwn(fields, name))
}

const SAID_LATER = ['"isMeta":', '"isCompactSummary":', '"isApiErrorMessage":', '"agentId":'].map(
  (name) => Buffer.from(name),
)
const TAIL = 600

function isPlain(line: Buffer, at: number): boolean {
  const tail = line.subarray(Math.max(at + RESULT.length, line.length - TAIL))
  return !SAID_LATER.some((name) => tail.includes(name))
}

const EXIT = /<command-name>\/(exit|quit)<\/command-name>/

function endedBy(fields: Json): readonly HistoryItem[] {
  const content = asObject(fields.message)?.content
  const at = asName(fields.timestamp)
  if (fields.type !== 'user' || typeof content !== 'string' || at === undefined) return []
  const command = EXIT.exec(content.slice(0, 500))?.[1]
  return command === undefined ? [] : [{ type: 'ended', at, reason: `/${command}` }]
}
