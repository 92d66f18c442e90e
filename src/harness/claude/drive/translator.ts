import { windowOf } from '../../../context/budget/prices.ts'
import type { Usage } from '../../../session/entries.ts'
import { cleanText, oneLine, shorten } from '../../../text/clean.ts'
import { defined } from '../../../text/defined.ts'
import {
  type Json,
  countOf,
  listOf,
  nameOf,
  objectOf,
  saidIn,
  textOf,
} from '../../../text/json-fields.ts'
import type { HarnessEvent, OpenConversation, TurnEnded } from '../../contract/drive.ts'
import { isPermitted, reasonAgainst } from '../../contract/permission-rules.ts'
import {
  type LimitReached,
  NO_USAGE,
  addUsage,
  largerUsage,
  subtractUsage,
  tokensOf,
  usageFrom,
} from '../../contract/usage.ts'
import { usageIn } from '../transcript/transcript.ts'
import { limitInEvent, limitInFailure } from './limits.ts'

/** The model of what the harness says itself. */
const SYNTHETIC = '<synthetic>'
const INTERRUPTED = /^\[Request interrupted by user/
const LONGEST_REASON = 2000
const LONGEST_OUTPUT = 4000

type ToolEvent = Extract<HarnessEvent, { readonly type: 'tool' }>

export class Translator {
  readonly #spending: Spending
  readonly #running = new Map<string, Pick<ToolEvent, 'id' | 'name' | 'command' | 'path'>>()
  readonly #now: () => Date
  readonly #tellsDeltas: boolean
  readonly #windows = new Map<string, number>()
  readonly #boundaries = new Set<string>()
  conversation: string | undefined
  /** As requested: answers leave out the marker of a larger window. */
  #model: string | undefined
  #prompt: string | undefined
  #isLimitTold = false
  #wasInterrupted = false
  /** The request whose answer is on its way. */
  #streaming: { id: string; model: string | undefined; usage: Usage } | undefined

  constructor(options: {
    readonly isResumed: boolean
    readonly now: () => Date
    readonly deltas?: boolean
  }) {
    this.#spending = new Spending(options.isResumed)
    this.#now = options.now
    this.#tellsDeltas = options.deltas === true
  }

  /** A prompt with this id begins a turn. */
  begin(prompt: string): void {
    this.#prompt = prompt
    this.#isLimitTold = false
    this.#wasInterrupted = false
  }

  read(message: Json): readonly HarnessEvent[] {
    switch (message.type) {
      case 'system':
        return this.#readSystem(message)
      case 'stream_event':
        return isDelegated(message) ? [] : this.#readStream(objectOf(message.event) ?? {})
      case 'assistant':
        return this.#readAnswer(objectOf(message.message) ?? {}, isDelegated(message))
      case 'user':
        return this.#readToModel(message)
      case 'rate_limit_event':
        return this.#tellLimit(limitInEvent(message))
      case 'result':
        return this.#readResult(message)
      default:
        // New kinds come with every version.
        return []
    }
  }

  #readSystem(message: Json): readonly HarnessEvent[] {
    if (message.subtype === 'init') return this.#readInit(message)
    if (message.subtype !== 'compact_boundary') return []
    const boundary = nameOf(message.uuid)
    if (boundary !== undefined && this.#boundaries.has(boundary)) return []
    if (boundary !== undefined) this.#boundaries.add(boundary)
    const about = objectOf(message.compact_metadata)
    const trigger = nameOf(about?.trigger)
    const tokensBefore = countOf(about?.pre_tokens)
    return [{ type: 'compaction', ...defined({ trigger, tokensBefore, boundary }) }]
  }

  /** Sent again with every turn. */
  #readInit(message: Json): readonly HarnessEvent[] {
    this.#model = nameOf(message.model) ?? this.#model
    const conversation = nameOf(message.session_id)
    if (conversation === undefined || conversation === this.conversation) return []
    this.conversation = conversation
    const more = defined({ model: this.#model, window: this.#windowOf(this.#model) })
    return [{ type: 'started', conversation, ...more }]
  }

  /** The only place with the complete usage of a request as soon as it is over. */
  #readStream(event: Json): readonly HarnessEvent[] {
    if (event.type === 'message_start') {
      const started = objectOf(event.message) ?? {}
      const id = nameOf(started.id)
      const usage = usageIn(started) ?? NO_USAGE
      this.#streaming = id === undefined ? undefined : { id, model: nameOf(started.model), usage }
    }
    if (event.type === 'content_block_delta' && this.#tellsDeltas) {
      const { type, text } = objectOf(event.delta) ?? {}
      if (type === 'text_delta' && typeof text === 'string' && text !== '')
        return [{ type: 'delta', text }]
    }
    const ended = event.type === 'message_delta' ? usageIn(event) : undefined
    if (ended === undefined || this.#streaming === undefined) return []
    const { id, model, usage } = this.#streaming
    this.#streaming = undefined
    // The end of an answer may report only the output.
    return this.#tellUse(id, model, largerUsage(usage, ended), true)
  }

  #readAnswer(answer: Json, isDelegate: boolean): readonly HarnessEvent[] {
    const model = nameOf(answer.model)
    if (model === SYNTHETIC) return []
    const id = nameOf(answer.id)
    const usage = usageIn(answer)
    const isKnown = id !== undefined && usage !== undefined && id !== this.#streaming?.id
    const texts = isDelegate
      ? []
      : blocksOf(answer.content, 'text').flatMap((block) => textOf(block.text) ?? [])
    return [
      ...(isKnown ? this.#tellUse(id, model, usage, !isDelegate) : []),
      ...texts.map((text) => ({ type: 'text', text }) as const),
      ...blocksOf(answer.content, 'tool_use').flatMap((block) => this.#startTool(block)),
    ]
  }

  #tellUse(
    id: string,
    model: string | undefined,
    usage: Usage,
    isContext: boolean,
  ): readonly HarnessEvent[] {
    const spent = this.#spending.ofRequest(id, usage)
    if (spent === undefined) return []
    const context = isContext ? tokensOf(usage) : undefined
    const window = isContext ? this.#windowOf(model, context) : undefined
    return [{ type: 'usage', spent, ...defined({ context, window, model }) }]
  }

  #startTool(block: Json): readonly ToolEvent[] {
    const [id, name] = [nameOf(block.id), nameOf(block.name)]
    if (id === undefined || name === undefined) return []
    const use = { id, name, ...targetOf(objectOf(block.input) ?? {}) }
    this.#running.set(id, use)
    return [{ type: 'tool', ...use, status: 'started' }]
  }

  #readToModel(message: Json): readonly HarnessEvent[] {
    const content = objectOf(message.message)?.content
    if (!isDelegated(message) && INTERRUPTED.test(saidIn(content))) this.#wasInterrupted = true
    return blocksOf(content, 'tool_result').flatMap((block): readonly ToolEvent[] => {
      const use = this.#running.get(nameOf(block.tool_use_id) ?? '')
      if (use === undefined) return []
      this.#running.delete(use.id)
      const status = block.is_error === true ? 'failed' : 'completed'
      const output = textOf(saidIn(block.content))?.slice(-LONGEST_OUTPUT).toWellFormed()
      return [{ type: 'tool', ...use, status, ...defined({ output }) }]
    })
  }

  #readResult(result: Json): readonly HarnessEvent[] {
    this.#streaming = undefined
    for (const [model, about] of Object.entries(objectOf(result.modelUsage) ?? {})) {
      const window = countOf(objectOf(about)?.contextWindow) ?? 0
      if (window > 0) this.#windows.set(model, window)
    }
    const spent = this.#spending.ofResult(result)
    const use = defined({ spent, costUsd: countOf(result.total_cost_usd) })
    const told: HarnessEvent[] = Object.keys(use).length === 0 ? [] : [{ type: 'usage', ...use }]
    // Something that ended in the background made the model speak without a prompt.
    if (!this.#isOfPrompt(result)) return told
    const end = this.#endOf(result)
    const limit =
      end.how === 'failed' ? limitInFailure(result, end.failure ?? '', this.#now()) : undefined
    return [...told, ...this.#tellLimit(limit), end]
  }

  #isOfPrompt(result: Json) {
    const prompts = [...listOf(result.user_message_uuids), result.user_message_uuid].filter(
      (id) => id !== undefined,
    )
    if (prompts.length > 0) return this.#prompt === undefined || prompts.includes(this.#prompt)
    return objectOf(result.origin)?.kind !== 'task-notification'
  }

  #endOf(result: Json): TurnEnded {
    const said = textOf(result.result)
    if (result.is_error !== true && result.subtype === 'success')
      return { type: 'turn ended', how: 'completed', ...defined({ said }) }
    const isAborted = textOf(result.terminal_reason)?.startsWith('aborted') === true
    if (isAborted || (this.#wasInterrupted && result.subtype === 'error_during_execution'))
      return { type: 'turn ended', how: 'interrupted' }
    const reason =
      said ??
      listOf(result.errors).map(textOf).find(Boolean) ??
      textOf(result.subtype)?.replaceAll('_', ' ') ??
      'it failed without a reason'
    const failure = shorten(cleanText(reason), LONGEST_REASON)
    return { type: 'turn ended', how: 'failed', failure }
  }

  #tellLimit(limit: LimitReached | undefined): readonly HarnessEvent[] {
    if (limit === undefined || this.#isLimitTold) return []
    this.#isLimitTold = true
    return [{ type: 'limit', ...limit, message: shorten(oneLine(limit.message), 300) }]
  }

  /** As the harness said it, or else by the table of models. */
  #windowOf(model: string | undefined, tokens?: number) {
    const isOurs = this.#model !== undefined && this.#model.replace(/\[.*\]$/, '') === model
    const name = isOurs ? this.#model : model
    return this.#windows.get(name ?? '') ?? windowOf(name, tokens)?.value
  }
}

function isDelegated(message: Json) {
  return textOf(message.parent_tool_use_id) !== undefined
}

function blocksOf(content: unknown, type: string): readonly Json[] {
  return listOf(content).flatMap((block) => {
    const fields = objectOf(block)
    return fields?.type === type ? [fields] : []
  })
}

/**
 * Messages carry placeholders for output, and requests of sub-agents or the harness may be missing;
 * the sums at the end of a turn are complete.
 */
class Spending {
  #told = NO_USAGE
  /** What the sums counted before this process began. */
  #before: Usage | undefined
  readonly #requests = new Set<string>()

  constructor(isResumed: boolean) {
    // Some clients continue the counts of the process before them, others start at zero.
    this.#before = isResumed ? undefined : NO_USAGE
  }

  ofRequest(id: string, usage: Usage): Usage | undefined {
    if (this.#requests.has(id)) return undefined
    this.#requests.add(id)
    return this.#tell(usage)
  }

  ofResult(result: Json): Usage | undefined {
    this.#requests.clear()
    const sum = sumOf(result.modelUsage)
    // Old clients end their own commands without sums.
    if (sum === undefined) return undefined
    this.#before ??= subtractUsage(sum, sumOf(result.model_usage_since_last_result) ?? this.#told)
    return this.#tell(subtractUsage(subtractUsage(sum, this.#before), this.#told))
  }

  #tell(usage: Usage) {
    if (tokensOf(usage) === 0) return undefined
    this.#told = addUsage(this.#told, usage)
    return usage
  }
}

const NAMES = {
  input: 'inputTokens',
  cacheWritten: 'cacheCreationInputTokens',
  cacheRead: 'cacheReadInputTokens',
  output: 'outputTokens',
}

function sumOf(byModel: unknown): Usage | undefined {
  const usages = Object.values(objectOf(byModel) ?? {}).map((model) =>
    usageFrom(objectOf(model) ?? {}, NAMES),
  )
  return usages.length === 0 ? undefined : usages.reduce(addUsage)
}

function targetOf(input: Json): Pick<ToolEvent, 'command' | 'path'> {
  return defined({
    command: textOf(input.command),
    path: nameOf(input.file_path ?? input.notebook_path ?? input.path, 4096),
  })
}

/** The response to a request to use a tool. */
export async function answerTo(request: Json, open: OpenConversation): Promise<object> {
  const input = objectOf(request.input) ?? {}
  const tool = nameOf(request.tool_name) ?? 'a tool'
  if (tool === 'AskUserQuestion')
    return denied('Nobody is here to answer. Decide it yourself, and say what you decided.')
  const { command, path } = targetOf(input)
  const about = command ?? path ?? Object.values(input).find((value) => textOf(value) !== undefined)
  const title = shorten(oneLine(about === undefined ? tool : `${tool}: ${String(about)}`), 200)
  const asked = { tool, title, ...defined({ command, path }) }
  if (await isPermitted(asked, open)) return { behavior: 'allow', updatedInput: input }
  const reason = reasonAgainst(asked, open)
  const because = reason === undefined ? '' : ` (${reason})`
  return denied(
    `This is not permitted here: ${title}${because}. Do without it, or report the task as blocked.`,
  )
}

export function denied(message: string): object {
  return { behavior: 'deny', message }
}
