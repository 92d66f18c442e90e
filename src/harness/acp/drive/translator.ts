// Read without the schema: an update kind unknown to this protocol version must not lose the known
// ones.
import { quoteWord } from '../../../command/shell-commands.ts'
import type { Usage } from '../../../session/entries.ts'
import { defined } from '../../../text/defined.ts'
import {
  type Json,
  asCount,
  asArray,
  asName,
  asObject,
  messageText,
  asText,
} from '../../../text/json-fields.ts'
import type { HarnessEvent, ToolEvent } from '../../contract/drive.ts'
import { parseUsageLimit, usageFrom } from '../../contract/usage.ts'

export class UpdateTranslator {
  readonly #tools = new Map<
    string,
    AcpToolUse & { readonly isStarted?: boolean; readonly isOver?: boolean }
  >()
  readonly #compactions = new Map<
    string,
    { readonly tokensBefore: number | undefined; readonly isReported: boolean }
  >()
  #message = ''
  #messageId: string | undefined
  #context: number | undefined
  lastMessage: string | undefined
  readonly #emitsDeltas: boolean

  constructor({ deltas }: { readonly deltas?: boolean } = {}) {
    this.#emitsDeltas = deltas === true
  }

  read(update: Json): readonly HarnessEvent[] {
    switch (update.sessionUpdate) {
      case 'agent_message_chunk':
        return this.#chunk(update)
      case 'user_message_chunk':
      case 'agent_thought_chunk':
        return this.flush()
      case 'tool_call':
      case 'tool_call_update':
        return [...this.flush(), ...this.#tool(update)]
      case 'usage_update':
        return this.#usage(update)
      case 'compaction_update':
        return [...this.flush(), ...this.#compaction(update)]
      case 'notice':
        return this.#limitNotice(update)
      default:
        return []
    }
  }

  flush(): readonly HarnessEvent[] {
    const text = this.#message
    this.#message = ''
    if (text.trim() === '') return []
    this.lastMessage = text
    return [{ type: 'text', text }]
  }

  endTurn(): readonly HarnessEvent[] {
    const unfinished = [...this.#tools.values()].filter(
      (use) => use.isStarted === true && use.isOver !== true,
    )
    this.#tools.clear()
    return [...this.flush(), ...unfinished.map((use) => toolEvent(use, 'failed'))]
  }

  tool(fields: Json): AcpToolUse {
    const id = asName(fields.toolCallId) ?? ''
    return mergeToolUse(id, fields, this.#tools.get(id))
  }

  #chunk(update: Json): readonly HarnessEvent[] {
    const content = asObject(update.content)
    const id = asName(update.messageId)
    const isNextMessage =
      id !== undefined && this.#messageId !== undefined && id !== this.#messageId
    const before = isNextMessage ? this.flush() : []
    this.#messageId = id
    const text = content?.type === 'text' ? content.text : undefined
    if (typeof text !== 'string' || text === '') return before
    this.#message += text
    return this.#emitsDeltas ? [...before, { type: 'delta', text }] : before
  }

  #tool(update: Json): readonly HarnessEvent[] {
    const id = asName(update.toolCallId)
    if (id === undefined) return []
    const before = this.#tools.get(id)
    if (before?.isOver === true) return []
    const use = mergeToolUse(id, update, before)
    const isOver = use.status === 'completed' || use.status === 'failed'
    // Some announce a tool use before they say what it does.
    const isKnown =
      use.command !== undefined || use.paths.length > 0 || (use.status ?? 'pending') !== 'pending'
    const isStarted = before?.isStarted === true || isKnown
    this.#tools.set(id, { ...use, isStarted, isOver })
    return [
      ...(isStarted && before?.isStarted !== true ? [toolEvent(use, 'started')] : []),
      ...(isOver ? [toolEvent(use, use.status === 'failed' ? 'failed' : 'completed')] : []),
    ]
  }

  #usage(update: Json): readonly HarnessEvent[] {
    const context = asCount(update.used)
    const window = asCount(update.size)
    const cost = asObject(update.cost)
    const costUsd = cost?.currency === 'USD' ? asCount(cost.amount) : undefined
    this.#context = context ?? this.#context
    // Some report 0 for an unknown window.
    const model = asName(asObject(update._meta)?.['_claude/model'])
    return [
      {
        type: 'usage',
        ...defined({ context, window: window === 0 ? undefined : window, costUsd, model }),
      },
    ]
  }

  /**
   * Reported once, when completed: some agents say so twice, and again when the conversation is
   * loaded.
   */
  #compaction(update: Json): readonly HarnessEvent[] {
    const id = asName(update.compactionId)
    if (id === undefined) return []
    const { tokensBefore, isReported } = this.#compactions.get(id) ?? {
      tokensBefore: this.#context,
      isReported: false,
    }
    const isDone = update.status === 'completed'
    this.#compactions.set(id, { tokensBefore, isReported: isReported || isDone })
    return isDone && !isReported
      ? [{ type: 'compaction', boundary: id, ...defined({ tokensBefore }) }]
      : []
  }

  #limitNotice(update: Json): readonly HarnessEvent[] {
    const { severity, title, description } = update
    const limit =
      severity === 'error'
        ? parseUsageLimit([title, description].flatMap((part) => asText(part) ?? []).join(': '))
        : undefined
    return limit === undefined ? [] : [{ type: 'limit', ...limit }]
  }
}

// Only the id is certain; the other fields arrive in pieces and differ between agents.

export interface AcpToolUse {
  readonly id: string
  readonly name: string
  readonly title?: string
  readonly kind?: string
  readonly command?: string
  readonly cwd?: string
  readonly paths: readonly string[]
  readonly output?: string
  readonly status?: string
}

const MAX_OUTPUT_LENGTH = 4000

export function mergeToolUse(id: string, fields: Json, before?: AcpToolUse): AcpToolUse {
  const title = asText(fields.title) ?? before?.title
  const kind = asText(fields.kind) ?? before?.kind
  const paths = parsePaths(fields)
  return {
    id,
    name:
      asText(fields.name) ??
      (before?.name === before?.kind ? undefined : before?.name) ??
      kind ??
      title ??
      'tool',
    paths: paths.length > 0 ? paths : (before?.paths ?? []),
    ...defined({
      title,
      kind,
      command:
        parseCommand(fields) ??
        before?.command ??
        (kind === 'execute' ? commandInTitle(title) : undefined),
      cwd: parseFolder(fields) ?? before?.cwd,
      output: isOver(fields) ? parseOutput(fields) : undefined,
      status: asText(fields.status) ?? before?.status,
    }),
  }
}

export function toolEvent(use: AcpToolUse, status: ToolEvent['status']): ToolEvent {
  const { id, name, command, paths } = use
  const output = status === 'started' ? undefined : use.output
  return { type: 'tool', id, name, status, ...defined({ command, path: paths[0], output }) }
}

function isOver({ status }: Json) {
  return status === 'completed' || status === 'failed'
}

function parseCommand(fields: Json) {
  const input = asObject(fields.rawInput)
  const command = input?.command ?? input?.cmd
  if (!Array.isArray(command)) return asText(command)
  const words = command.filter((word) => typeof word === 'string')
  const isScript = words.length === 3 && SHELL.test(words[0]!) && /^-\w*c$/.test(words[1]!)
  return isScript ? words[2] : words.map(quoteWord).join(' ')
}

function parseFolder(fields: Json) {
  const input = asObject(fields.rawInput)
  return [input?.cwd, input?.workdir, input?.directory, input?.dir_path]
    .map(asText)
    .find((path) => path !== undefined)
}

const SHELL = /(?:^|\/)(?:ba|z|da|k)?sh$/

/** Some write the command into the title, as code. */
function commandInTitle(title: string | undefined) {
  return title === undefined ? undefined : (/^`+([^`]+)`+$/.exec(title.trim())?.[1] ?? undefined)
}

function parsePaths(fields: Json) {
  const input = asObject(fields.rawInput)
  const locations = [...asArray(fields.locations), ...asArray(fields.content)].map((location) =>
    asText(asObject(location)?.path),
  )
  const named = [input?.file_path, input?.abs_path, input?.path].map(asText)
  return [...new Set([...locations, ...named].filter((path) => path !== undefined))]
}

function parseOutput(fields: Json) {
  const blocks = asArray(fields.content).map((block) => asObject(block)?.content)
  const raw = fields.rawOutput
  const output = asObject(raw)
  const texts = [raw, output?.formatted_output, output?.output, output?.stdout, messageText(blocks)]
  return texts
    .map(asText)
    .find((text) => text !== undefined)
    ?.slice(-MAX_OUTPUT_LENGTH)
}

// The draft protocol reports the whole session here, but claude-agent-acp 0.99 and codex-acp 2.6
// report the turn.

export function turnUsage(response: Json): Usage | undefined {
  const usage = asObject(response.usage)
  return usage === undefined ? geminiUsage(response) : parseUsage(usage)
}

function parseUsage(usage: Json) {
  const [input, output, cacheRead, cacheWritten, thinking, total] = [
    'inputTokens',
    'outputTokens',
    'cachedReadTokens',
    'cachedWriteTokens',
    'thoughtTokens',
    'totalTokens',
  ].map((name) => asCount(usage[name]) ?? 0) as [number, number, number, number, number, number]
  const cached = cacheRead + cacheWritten
  // Only the total shows whether input includes cached tokens and output includes thinking.
  const inputIncludesCached = cached > 0 && total === input + output && input >= cached
  const isThinkingSeparate = thinking > 0 && total === input + output + cached + thinking
  return {
    input: inputIncludesCached ? input - cached : input,
    cacheWritten,
    cacheRead,
    output: isThinkingSeparate ? output + thinking : output,
  }
}

/** The format of Gemini CLI. */
function geminiUsage(response: Json) {
  const count = asObject(asObject(asObject(response._meta)?.quota)?.token_count)
  const names = { input: 'input_tokens', output: 'output_tokens' }
  return count === undefined ? undefined : usageFrom(count, names)
}
