import { cleanText, oneLine, shorten } from '../../../text/clean.ts'
import type { Usage } from '../../../session/entries.ts'
import type { HarnessEvent, OpenConversation, TurnEnded } from '../../contract/drive.ts'
import {
  type Json,
  countOf,
  listOf,
  nameOf,
  objectOf,
  saidIn,
  textOf,
} from '../../../text/json-fields.ts'
import { usageIn } from '../transcript/transcript.ts'
import { windowOf } from '../../../context/budget/prices.ts'
import { type Limit, limitInEvent, limitInFailure } from './limits.ts'
import {
  NO_USAGE,
  addUsage,
  usageFrom,
  largerUsage,
  subtractUsage,
  tokensOf,
} from '../../contract/usage.ts'
import { defined } from '../../../text/defined.ts'
import { isPermitted, reasonAgainst } from '../../contract/permission-rules.ts'

const SYNTHETIC = '<synthetic>'
const INTERRUPTED = /^\[Request interrupted by user/
const LONGEST_REASON = 2000

export class Translator {
  readonly #spending: Spending
  readonly #tools = new ToolUses()
  readonly #now: () => Date
  readonly #tellsDeltas: boolean
  readonly #windows = new Map<string, number>()
  readonly #boundaries = new Set<string>()
  #conversation: string | undefined
  /** As requested: answers leave out the marker of a larger window. */
  #model: string | undefined
  #prompt: string | undefined
  #isLimitTold = false
  #wasInterrupted = false
  #streaming:
    | { readonly id: string; readonly model: string | undefined; readonly usage: Usage }
    | undefined

  constructor(options: {
    readonly isResumed: boolean
    readonly now: () => Date
    readonly deltas?: boolean
  }) {
    this.#spending = new Spending(options.isResumed)
    this.#now = options.now
    this.#tellsDeltas = options.deltas === true
  }

  get conversation(): string | undefined {
    return this.#conversation
  }

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
        return this.#readStream(message)
      case 'assistant':
        return this.#readAnswer(message)
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
    const told = defined({
      trigger: nameOf(about?.trigger),
      tokensBefore: countOf(about?.pre_tokens),
      boundary,
    })
    return [{ type: 'compaction', ...told }]
  }

  #readInit(message: Json): readonly HarnessEvent[] {
    this.#model = nameOf(message.model) ?? this.#model
    const conversation = nameOf(message.session_id)
    if (conversation === undefined || conversation === this.#conversation) return []
    this.#conversation = conversation
    return [
      {
        type: 'started',
        conversation,
        ...defined({ model: this.#model, window: this.#windowOf(this.#model) }),
      },
    ]
  }

  /** The only place with the complete usage of a request as soon as it is over. */
  #readStream(message: Json): readonly HarnessEvent[] {
    const event = objectOf(message.event)
    if (event === undefined || isDelegated(message)) return []
    const started = event.type === 'message_start' ? objectOf(event.message) : undefined
    if (started !== undefined) {
      const id = nameOf(started.id)
      this.#streaming =
        id === undefined
          ? undefined
          : { id, model: nameOf(started.model), usage: usageIn(started) ?? NO_USAGE }
    }
    const piece =
      this.#tellsDeltas && event.type === 'content_block_delta' ? objectOf(event.delta) : undefined
    const text = piece?.type === 'text_delta' ? piece.text : undefined
    if (typeof text === 'string' && text !== '') return [{ type: 'delta', text }]
    const ended = event.type === 'message_delta' ? usageIn(event) : undefined
    if (ended === undefined || this.#streaming === undefined) return []
    const { id, model, usage } = this.#streaming
    this.#streaming = undefined
    // The end of an answer may report only the output.
    return this.#tellUse(id, model, largerUsage(usage, ended), true)
  }

  #readAnswer(message: Json): readonly HarnessEvent[] {
    const answer = objectOf(message.message)
    const model = nameOf(answer?.model)
    if (answer === undefined || model === SYNTHETIC) return []
    const ofDelegate = isDelegated(message)
    const said = ofDelegate
      ? []
      : textsIn(answer.content).map((text) => ({ type: 'text', text }) as const)
    return [
      ...this.#useOf(answer, model, ofDelegate),
      ...said,
      ...this.#tools.begun(answer.content),
    ]
  }

  #useOf(answer: Json, model: string | undefined, ofDelegate: boolean): readonly HarnessEvent[] {
    const id = nameOf(answer.id)
    const usage = usageIn(answer)
    if (id === undefined || usage === undefined || id === this.#streaming?.id) return []
    return this.#tellUse(id, model, usage, !ofDelegate)
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

  #readToModel(message: Json): readonly HarnessEvent[] {
    const content = objectOf(message.message)?.content
    if (!isDelegated(message) && INTERRUPTED.test(saidIn(content))) this.#wasInterrupted = true
    return this.#tools.ended(content)
  }

  #readResult(result: Json): readonly HarnessEvent[] {
    this.#streaming = undefined
    this.#learnWindows(result)
    const spent = this.#spending.ofResult(result)
    const costUsd = countOf(result.total_cost_usd)
    const use = defined({ spent, costUsd })
    const told: HarnessEvent[] = Object.keys(use).length === 0 ? [] : [{ type: 'usage', ...use }]
    // Something that ended in the background made the model speak without a prompt.
    if (!this.#isOfPrompt(result)) return told
    const end = this.#endOf(result)
    const limit =
      end.how === 'failed' ? limitInFailure(result, end.failure ?? '', this.#now()) : undefined
    return [...told, ...this.#tellLimit(limit), end]
  }

  #isOfPrompt(result: Json): boolean {
    const prompts = [...listOf(result.user_message_uuids), result.user_message_uuid].filter(
      (id) => id !== undefined,
    )
    if (prompts.length > 0) return this.#prompt === undefined || prompts.includes(this.#prompt)
    return objectOf(result.origin)?.kind !== 'task-notification'
  }

  #endOf(result: Json): TurnEnded {
    const said = textOf(result.result)
    const isFailed = result.is_error === true || result.subtype !== 'success'
    if (!isFailed) return { type: 'turn ended', how: 'completed', ...defined({ said }) }
    const isAborted = textOf(result.terminal_reason)?.startsWith('aborted') === true
    if (isAborted || (this.#wasInterrupted && result.subtype === 'error_during_execution'))
      return { type: 'turn ended', how: 'interrupted' }
    const reasons = [
      said,
      ...listOf(result.errors).map(textOf),
      textOf(result.subtype)?.replaceAll('_', ' '),
    ]
    const reason = reasons.find((text) => text !== undefined) ?? 'it failed without a reason'
    return {
      type: 'turn ended',
      how: 'failed',
      failure: shorten(cleanText(reason), LONGEST_REASON),
    }
  }

  #tellLimit(limit: Limit | undefined): readonly HarnessEvent[] {
    if (limit === undefined || this.#isLimitTold) return []
    this.#isLimitTold = true
    return [{ type: 'limit', ...limit, message: shorten(oneLine(limit.message), 300) }]
  }

  #learnWindows(result: Json): void {
    for (const [model, about] of Object.entries(objectOf(result.modelUsage) ?? {})) {
      const window = countOf(objectOf(about)?.contextWindow)
      if (window !== undefined && window > 0) this.#windows.set(model, window)
    }
  }

  #windowOf(model: string | undefined, tokens?: number): number | undefined {
    const isOurs = this.#model !== undefined && this.#model.replace(/\[.*\]$/, '') === model
    const name = isOurs ? this.#model : model
    return this.#windows.get(name ?? '') ?? windowOf(name, tokens)?.value
  }
}

function isDelegated(message: Json): boolean {
  return textOf(message.parent_tool_use_id) !== undefined
}

function textsIn(content: unknown): readonly string[] {
  return listOf(content).flatMap((block) => {
    const fields = objectOf(block)
    return fields?.type === 'text' ? (textOf(fields.text) ?? []) : []
  })
}

/**
 * Messages carry placeholders for output, and requests of sub-agents or the harness may be missing;
 * the sums at the end of a turn are complete.
 */
export class Spending {
  #told = NO_USAGE
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

  #tell(usage: Usage): Usage | undefined {
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
  const models = Object.values(objectOf(byModel) ?? {}).flatMap<Json>(
    (model) => objectOf(model) ?? [],
  )
  if (models.length === 0) return undefined
  return models.map((model) => usageFrom(model, NAMES)).reduce(addUsage)
}

type ToolEvent = Extract<HarnessEvent, { readonly type: 'tool' }>
type Use = Pick<ToolEvent, 'id' | 'name' | 'command' | 'path'>

const LONGEST_OUTPUT = 4000

export class ToolUses {
  readonly #running = new Map<string, Use>()

  begun(content: unknown): readonly ToolEvent[] {
    return blocksOf(content, 'tool_use').flatMap((block) => {
      const id = nameOf(block.id)
      const name = nameOf(block.name)
      if (id === undefined || name === undefined) return []
      const use = { id, name, ...targetOf(objectOf(block.input) ?? {}) }
      this.#running.set(id, use)
      return [{ type: 'tool', ...use, status: 'started' } as const]
    })
  }

  ended(content: unknown): readonly ToolEvent[] {
    return blocksOf(content, 'tool_result').flatMap((block) => {
      const use = this.#running.get(nameOf(block.tool_use_id) ?? '')
      if (use === undefined) return []
      this.#running.delete(use.id)
      const status = block.is_error === true ? 'failed' : 'completed'
      const output = textOf(saidIn(block.content))?.slice(-LONGEST_OUTPUT)
      return [
        { type: 'tool', ...use, status, ...defined({ output: output?.toWellFormed() }) } as const,
      ]
    })
  }
}

export function targetOf(input: Json): Pick<ToolEvent, 'command' | 'path'> {
  return defined({
    command: textOf(input.command),
    path: nameOf(input.file_path ?? input.notebook_path ?? input.path, 4096),
  })
}

function blocksOf(content: unknown, type: string): readonly Json[] {
  return listOf(content).flatMap((block) => {
    const fields = objectOf(block)
    return fields?.type === type ? [fields] : []
  })
}

export type Answer =
  | { readonly behavior: 'allow'; readonly updatedInput: Json }
  | { readonly behavior: 'deny'; readonly message: string }

const LONGEST_TITLE = 200

export async function answerTo(request: Json, open: OpenConversation): Promise<Answer> {
  const input = objectOf(request.input) ?? {}
  const tool = nameOf(request.tool_name) ?? 'a tool'
  if (tool === 'AskUserQuestion')
    return denied('Nobody is here to answer. Decide it yourself, and say what you decided.')
  const asked = { tool, title: titleOf(tool, input), ...targetOf(input) }
  if (await isPermitted(asked, open)) return { behavior: 'allow', updatedInput: input }
  const reason = reasonAgainst(asked, open)
  const because = reason === undefined ? '' : ` (${reason})`
  return denied(
    `This is not permitted here: ${asked.title}${because}. Do without it, or report the task as blocked.`,
  )
}

function titleOf(tool: string, input: Json): string {
  const { command, path } = targetOf(input)
  const about = command ?? path ?? Object.values(input).find((value) => textOf(value) !== undefined)
  return shorten(oneLine(about === undefined ? tool : `${tool}: ${String(about)}`), LONGEST_TITLE)
}

export function denied(message: string): Answer {
  return { behavior: 'deny', message }
}
