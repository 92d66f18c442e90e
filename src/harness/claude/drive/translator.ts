import { estimateWindow } from '../../../context/budget/prices.ts'
import type { Usage } from '../../../session/entries.ts'
import { cleanText, oneLine, shorten } from '../../../text/clean.ts'
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
import type {
  ConversationOptions,
  HarnessEvent,
  ToolEvent,
  TurnEnded,
} from '../../contract/drive.ts'
import { isPermitted, refusalReason } from '../../contract/permission-rules.ts'
import {
  type LimitReached,
  NO_USAGE,
  addUsage,
  largerUsage,
  subtractUsage,
  usageTotal,
  usageFrom,
} from '../../contract/usage.ts'
import { messageUsage } from '../transcript/inspect-transcript.ts'
import { limitFromEvent, limitFromFailure } from './usage-limits.ts'

/** The model name of messages that Claude Code writes itself. */
const SYNTHETIC = '<synthetic>'
const INTERRUPTED = /^\[Request interrupted by user/
const MAX_REASON_LENGTH = 2000
const MAX_OUTPUT_LENGTH = 4000

export class ClaudeStreamTranslator {
  readonly #usage: UsageCounter
  readonly #running = new Map<string, Pick<ToolEvent, 'id' | 'name' | 'command' | 'path'>>()
  readonly #now: () => Date
  readonly #emitsDeltas: boolean
  readonly #windows = new Map<string, number>()
  readonly #boundaries = new Set<string>()
  conversation: string | undefined
  /** As requested: replies name the model without the marker of a larger window. */
  #model: string | undefined
  #prompt: string | undefined
  #isLimitReported = false
  #wasInterrupted = false
  /** The request whose reply is streaming. */
  #streaming: { id: string; model: string | undefined; usage: Usage } | undefined

  constructor(options: {
    readonly isResumed: boolean
    readonly now: () => Date
    readonly deltas?: boolean
  }) {
    this.#usage = new UsageCounter(options.isResumed)
    this.#now = options.now
    this.#emitsDeltas = options.deltas === true
  }

  begin(prompt: string): void {
    this.#prompt = prompt
    this.#isLimitReported = false
    this.#wasInterrupted = false
  }

  read(message: Json): readonly HarnessEvent[] {
    switch (message.type) {
      case 'system':
        return this.#readSystem(message)
      case 'stream_event':
        return isDelegated(message) ? [] : this.#readStream(asObject(message.event) ?? {})
      case 'assistant':
        return this.#readReply(asObject(message.message) ?? {}, isDelegated(message))
      case 'user':
        return this.#readUserMessage(message)
      case 'rate_limit_event':
        return this.#reportLimit(limitFromEvent(message))
      case 'result':
        return this.#readResult(message)
      default:
        // Every version adds new kinds.
        return []
    }
  }

  #readSystem(message: Json): readonly HarnessEvent[] {
    if (message.subtype === 'init') return this.#readInit(message)
    if (message.subtype !== 'compact_boundary') return []
    const boundary = asName(message.uuid)
    if (boundary !== undefined && this.#boundaries.has(boundary)) return []
    if (boundary !== undefined) this.#boundaries.add(boundary)
    const about = asObject(message.compact_metadata)
    const trigger = asName(about?.trigger)
    const tokensBefore = asCount(about?.pre_tokens)
    return [{ type: 'compaction', ...defined({ trigger, tokensBefore, boundary }) }]
  }

  /** Sent again with every turn. */
  #readInit(message: Json): readonly HarnessEvent[] {
    this.#model = asName(message.model) ?? this.#model
    const conversation = asName(message.session_id)
    if (conversation === undefined || conversation === this.conversation) return []
    this.conversation = conversation
    const more = defined({ model: this.#model, window: this.#windowOf(this.#model) })
    return [{ type: 'started', conversation, ...more }]
  }

  /** Only the stream has the complete usage of a request as soon as it ends. */
  #readStream(event: Json): readonly HarnessEvent[] {
    if (event.type === 'message_start') {
      const started = asObject(event.message) ?? {}
      const id = asName(started.id)
      const usage = messageUsage(started) ?? NO_USAGE
      this.#streaming = id === undefined ? undefined : { id, model: asName(started.model), usage }
    }
    if (event.type === 'content_block_delta' && this.#emitsDeltas) {
      const { type, text } = asObject(event.delta) ?? {}
      if (type === 'text_delta' && typeof text === 'string' && text !== '')
        return [{ type: 'delta', text }]
    }
    const ended = event.type === 'message_delta' ? messageUsage(event) : undefined
    if (ended === undefined || this.#streaming === undefined) return []
    const { id, model, usage } = this.#streaming
    this.#streaming = undefined
    // The end of a reply may report only the output.
    return this.#reportUsage(id, model, largerUsage(usage, ended), true)
  }

  #readReply(reply: Json, isDelegate: boolean): readonly HarnessEvent[] {
    const model = asName(reply.model)
    if (model === SYNTHETIC) return []
    const id = asName(reply.id)
    const usage = messageUsage(reply)
    const hasUsage = id !== undefined && usage !== undefined && id !== this.#streaming?.id
    const texts = isDelegate
      ? []
      : blocksOfType(reply.content, 'text').flatMap((block) => asText(block.text) ?? [])
    return [
      ...(hasUsage ? this.#reportUsage(id, model, usage, !isDelegate) : []),
      ...texts.map((text) => ({ type: 'text', text }) as const),
      ...blocksOfType(reply.content, 'tool_use').flatMap((block) => this.#startTool(block)),
    ]
  }

  #reportUsage(
    id: string,
    model: string | undefined,
    usage: Usage,
    isContext: boolean,
  ): readonly HarnessEvent[] {
    const spent = this.#usage.countRequest(id, usage)
    if (spent === undefined) return []
    const context = isContext ? usageTotal(usage) : undefined
    const window = isContext ? this.#windowOf(model, context) : undefined
    return [{ type: 'usage', spent, ...defined({ context, window, model }) }]
  }

  #startTool(block: Json): readonly ToolEvent[] {
    const [id, name] = [asName(block.id), asName(block.name)]
    if (id === undefined || name === undefined) return []
    const use = { id, name, ...toolTarget(asObject(block.input) ?? {}) }
    this.#running.set(id, use)
    return [{ type: 'tool', ...use, status: 'started' }]
  }

  #readUserMessage(message: Json): readonly HarnessEvent[] {
    const content = asObject(message.message)?.content
    if (!isDelegated(message) && INTERRUPTED.test(messageText(content))) this.#wasInterrupted = true
    return blocksOfType(content, 'tool_result').flatMap((block): readonly ToolEvent[] => {
      const use = this.#running.get(asName(block.tool_use_id) ?? '')
      if (use === undefined) return []
      this.#running.delete(use.id)
      const status = block.is_error === true ? 'failed' : 'completed'
      const output = asText(messageText(block.content))?.slice(-MAX_OUTPUT_LENGTH).toWellFormed()
      return [{ type: 'tool', ...use, status, ...defined({ output }) }]
    })
  }

  #readResult(result: Json): readonly HarnessEvent[] {
    this.#streaming = undefined
    for (const [model, about] of Object.entries(asObject(result.modelUsage) ?? {})) {
      const window = asCount(asObject(about)?.contextWindow) ?? 0
      if (window > 0) this.#windows.set(model, window)
    }
    const spent = this.#usage.countResult(result)
    const use = defined({ spent, costUsd: asCount(result.total_cost_usd) })
    const events: HarnessEvent[] = Object.keys(use).length === 0 ? [] : [{ type: 'usage', ...use }]
    // A background task that ended made the model reply without a prompt.
    if (!this.#isOfPrompt(result)) return events
    const end = this.#turnEnd(result)
    const limit =
      end.how === 'failed' ? limitFromFailure(result, end.failure ?? '', this.#now()) : undefined
    return [...events, ...this.#reportLimit(limit), end]
  }

  #isOfPrompt(result: Json) {
    const prompts = [...asArray(result.user_message_uuids), result.user_message_uuid].filter(
      (id) => id !== undefined,
    )
    if (prompts.length > 0) return this.#prompt === undefined || prompts.includes(this.#prompt)
    return asObject(result.origin)?.kind !== 'task-notification'
  }

  #turnEnd(result: Json): TurnEnded {
    const said = asText(result.result)
    if (result.is_error !== true && result.subtype === 'success')
      return { type: 'turn ended', how: 'completed', ...defined({ said }) }
    const isAborted = asText(result.terminal_reason)?.startsWith('aborted') === true
    if (isAborted || (this.#wasInterrupted && result.subtype === 'error_during_execution'))
      return { type: 'turn ended', how: 'interrupted' }
    const reason =
      said ??
      asArray(result.errors).map(asText).find(Boolean) ??
      asText(result.subtype)?.replaceAll('_', ' ') ??
      'it failed without a reason'
    const failure = shorten(cleanText(reason), MAX_REASON_LENGTH)
    return { type: 'turn ended', how: 'failed', failure }
  }

  #reportLimit(limit: LimitReached | undefined): readonly HarnessEvent[] {
    if (limit === undefined || this.#isLimitReported) return []
    this.#isLimitReported = true
    return [{ type: 'limit', ...limit, message: shorten(oneLine(limit.message), 300) }]
  }

  /** As Claude Code reported it, else from the table of models. */
  #windowOf(model: string | undefined, tokens?: number) {
    const isMainModel = this.#model !== undefined && this.#model.replace(/\[.*\]$/, '') === model
    const name = isMainModel ? this.#model : model
    return this.#windows.get(name ?? '') ?? estimateWindow(name, tokens)?.value
  }
}

function isDelegated(message: Json) {
  return asText(message.parent_tool_use_id) !== undefined
}

function blocksOfType(content: unknown, type: string): readonly Json[] {
  return asArray(content).flatMap((block) => {
    const fields = asObject(block)
    return fields?.type === type ? [fields] : []
  })
}

/**
 * Messages carry placeholder output counts, and requests of sub-agents or of the harness may be
 * missing; the totals at the end of a turn are complete.
 */
class UsageCounter {
  #reported = NO_USAGE
  /** The part of the totals from before this process. */
  #earlier: Usage | undefined
  readonly #requests = new Set<string>()

  constructor(isResumed: boolean) {
    // Some versions continue the counts of the previous process, others start at zero.
    this.#earlier = isResumed ? undefined : NO_USAGE
  }

  countRequest(id: string, usage: Usage): Usage | undefined {
    if (this.#requests.has(id)) return undefined
    this.#requests.add(id)
    return this.#report(usage)
  }

  countResult(result: Json): Usage | undefined {
    this.#requests.clear()
    const sum = sumUsage(result.modelUsage)
    // Old versions end their own commands without totals.
    if (sum === undefined) return undefined
    this.#earlier ??= subtractUsage(
      sum,
      sumUsage(result.model_usage_since_last_result) ?? this.#reported,
    )
    return this.#report(subtractUsage(subtractUsage(sum, this.#earlier), this.#reported))
  }

  #report(usage: Usage) {
    if (usageTotal(usage) === 0) return undefined
    this.#reported = addUsage(this.#reported, usage)
    return usage
  }
}

const USAGE_FIELDS = {
  input: 'inputTokens',
  cacheWritten: 'cacheCreationInputTokens',
  cacheRead: 'cacheReadInputTokens',
  output: 'outputTokens',
}

function sumUsage(byModel: unknown): Usage | undefined {
  const usages = Object.values(asObject(byModel) ?? {}).map((model) =>
    usageFrom(asObject(model) ?? {}, USAGE_FIELDS),
  )
  return usages.length === 0 ? undefined : usages.reduce(addUsage)
}

function toolTarget(input: Json): Pick<ToolEvent, 'command' | 'path'> {
  return defined({
    command: asText(input.command),
    path: asName(input.file_path ?? input.notebook_path ?? input.path, 4096),
  })
}

export async function respondToToolRequest(
  request: Json,
  options: ConversationOptions,
): Promise<object> {
  const input = asObject(request.input) ?? {}
  const tool = asName(request.tool_name) ?? 'a tool'
  if (tool === 'AskUserQuestion')
    return denialResponse('Nobody is here to answer. Decide it yourself, and say what you decided.')
  const { command, path } = toolTarget(input)
  const about = command ?? path ?? Object.values(input).find((value) => asText(value) !== undefined)
  const title = shorten(oneLine(about === undefined ? tool : `${tool}: ${String(about)}`), 200)
  const toolRequest = { tool, title, ...defined({ command, path }) }
  if (await isPermitted(toolRequest, options)) return { behavior: 'allow', updatedInput: input }
  const reason = refusalReason(toolRequest, options)
  const explanation = reason === undefined ? '' : ` (${reason})`
  return denialResponse(
    `This is not permitted here: ${title}${explanation}. Do without it, or report the task as blocked.`,
  )
}

export function denialResponse(message: string): object {
  return { behavior: 'deny', message }
}
