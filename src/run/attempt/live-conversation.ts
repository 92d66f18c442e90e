import {
  type BudgetSettings,
  type BudgetThreshold,
  type CrossedThresholds,
  compactionPercent,
  crossThresholds,
  stageAction,
} from '../../context/budget/stages.ts'
import type {
  Conversation,
  ConversationOptions,
  Harness,
  HarnessEvent,
  TurnEnded,
} from '../../harness/contract/drive.ts'
import { type EntryDraft, draftEntry } from '../../session/entries.ts'
import { defined } from '../../text/defined.ts'
import type { Gauge, TrippedDetector } from '../entries.ts'
import type { PlannedTask } from '../plan/order-tasks.ts'
import { type UsageByModel, addUsageByModel } from '../run-state.ts'

type EventOf<T extends HarnessEvent['type']> = Extract<HarnessEvent, { type: T }>

/** Returns `stopped` if that comes first, and closes a conversation that opens too late. */
export async function openUnlessStopped(
  harness: Harness,
  options: ConversationOptions,
  isStopped: AbortSignal,
): Promise<Conversation | 'stopped'> {
  if (isStopped.aborted) return 'stopped'
  const opening = harness.open(options)
  const stopped = new Promise<'stopped'>((resolve) =>
    isStopped.addEventListener('abort', () => resolve('stopped'), { once: true }),
  )
  const first = await Promise.race([opening, stopped])
  if (first === 'stopped')
    await opening.then(
      (late) => late.close(),
      () => undefined,
    )
  return first
}

export function crossedEntry(
  by: string,
  conversation: string,
  stage: BudgetThreshold,
  gauge: Gauge,
): EntryDraft {
  const { context, point, window } = gauge
  const data = { conversation, stage, tokens: context, source: by, ...defined({ point, window }) }
  return draftEntry('budget.crossed', data, { by })
}

/** A harness may report one compaction more than once. */
export function compactedEntry(
  by: string,
  conversation: string | undefined,
  { trigger, tokensBefore, boundary }: EventOf<'compaction'>,
): EntryDraft {
  const data = defined({ trigger, tokensBefore, boundary, conversation })
  const once = boundary === undefined ? undefined : `compaction:${boundary}`
  return draftEntry('context.compacted', data, { by, ...defined({ once }) })
}

export type TurnCut =
  | { readonly why: 'stop' | 'replace' }
  | { readonly why: 'over'; readonly limit: 'budget tokens' | 'budget usd' | 'max minutes' }
  | { readonly why: 'breaker'; readonly which: TrippedDetector; readonly detail: string }

export interface FinishedTurn {
  readonly ended: TurnEnded
  readonly cut?: TurnCut
  readonly said: string
  readonly spent: UsageByModel
  readonly requests: number
  readonly compactions: number
  readonly limit?: { readonly message: string; readonly resetsAt?: string }
  readonly seconds: number
}

interface TurnOptions {
  /** How long it may be silent; `commandMs` applies while one of its commands runs. */
  readonly silenceMs: number
  readonly commandMs: number
  readonly isStopped: AbortSignal
  readonly deadline: number
  readonly onEvent: (event: HarnessEvent) => void
  readonly checkBudget: (spent: UsageByModel) => TurnCut | undefined
  readonly onCrossed: (line: BudgetThreshold, gauge: Gauge) => void
  /** A fingerprint of the files. Without it, repeated errors are not detected. */
  readonly fingerprint?: () => string
  /** Never cuts the turn because the context is full. */
  readonly endsWhenFull?: false
}

const GRACE_MS = 10_000
/** Node fires a longer timer at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

export class LiveConversation {
  readonly done: PlannedTask[] = []
  context = 0
  base: number | undefined
  window: number | undefined
  model: string | undefined
  costUsd: number | undefined
  isDead = false
  lastRequestAt = 0
  hasHadTurn = false
  #crossed: CrossedThresholds | undefined
  #windowNumber = 1
  #cut: TurnCut | undefined
  #isInTurn = false
  #grace: NodeJS.Timeout | undefined
  #onActivity: (() => void) | undefined
  #reportedPoint: number | undefined

  constructor(
    readonly number: number,
    private readonly conversation: Conversation,
    private readonly budget: BudgetSettings,
    private readonly findCompactionPoint: (
      window: number | undefined,
      model: string | undefined,
    ) => number | undefined,
    /** The key for usage when the harness reports no model. */
    private readonly harness: string,
    before: readonly BudgetThreshold[] = [],
  ) {
    if (before.length > 0) this.#crossed = { window: String(this.#windowNumber), lines: before }
  }

  get id(): string | undefined {
    return this.conversation.id
  }

  get point(): number | undefined {
    return this.#reportedPoint ?? this.findCompactionPoint(this.window, this.model)
  }

  /** The thresholds crossed since it began or was last compacted. */
  get crossed(): readonly BudgetThreshold[] {
    return this.#crossed?.window === String(this.#windowNumber) ? this.#crossed.lines : []
  }

  get gauge(): Gauge {
    const { context, window, point } = this
    const { smartZone, stages } = this.budget
    const percent = compactionPercent({ tokens: context, point })
    return { context, smartZone, stages, ...defined({ window, point, percent }) }
  }

  async turn(text: string, options: TurnOptions): Promise<FinishedTurn> {
    const { commandMs, deadline, fingerprint, isStopped, silenceMs } = options
    const startedAt = Date.now()
    const repeated = fingerprint && detectSameErrors(fingerprint)
    let spent: UsageByModel = {}
    let requests = 0
    let compactions = 0
    let limit: FinishedTurn['limit']
    let ended: TurnEnded | undefined
    let said = ''
    this.#cut = undefined
    this.#isInTurn = true
    this.hasHadTurn = true
    const running = new Set<string>()
    const trip = (which: TrippedDetector, detail: string) =>
      this.cut({ why: 'breaker', which, detail })
    let silence: NodeJS.Timeout | undefined
    const restartSilenceTimer = () => {
      const patience = running.size > 0 ? Math.max(silenceMs, commandMs) : silenceMs
      clearTimeout(silence)
      silence = setTimer(patience, () => trip('silence', `no word for ${minutes(patience)}`))
    }
    restartSilenceTimer()
    this.#onActivity = restartSilenceTimer
    const time = deadline - startedAt
    const late = setTimer(Math.max(1, time), () => trip('time', `not done after ${minutes(time)}`))
    const stop = () => this.cut({ why: 'stop' })
    isStopped.addEventListener('abort', stop, { once: true })
    // There is no turn to interrupt before the prompt is sent.
    if (isStopped.aborted) queueMicrotask(stop)
    try {
      for await (const event of this.conversation.prompt(text)) {
        if (event.type === 'tool') running[event.status === 'started' ? 'add' : 'delete'](event.id)
        restartSilenceTimer()
        options.onEvent(event)
        if (event.type === 'started') {
          this.model = event.model ?? this.model
          this.window = event.window ?? this.window
        } else if (event.type === 'text') said = event.text
        else if (event.type === 'tool') {
          const detail = repeated?.(event)
          if (detail !== undefined) trip('same error', detail)
        } else if (event.type === 'usage') {
          if (event.spent !== undefined) {
            requests += 1
            spent = addUsageByModel(spent, {
              [event.model ?? this.model ?? this.harness]: event.spent,
            })
          }
          this.#recordUsage(event, options)
          const over = options.checkBudget(spent)
          if (over !== undefined) this.cut(over)
        } else if (event.type === 'compaction') {
          compactions += 1
          this.#windowNumber += 1
        } else if (event.type === 'limit') limit = event
        else if (event.type === 'turn ended') ended = event
      }
    } finally {
      isStopped.removeEventListener('abort', stop)
      this.#onActivity = undefined
      clearTimeout(silence)
      clearTimeout(late)
      this.#isInTurn = false
      clearTimeout(this.#grace)
    }
    ended ??= { type: 'turn ended', how: 'died', failure: 'the agent program ended without a word' }
    if (ended.how === 'died') this.isDead = true
    return {
      ended,
      said: ended.said ?? said,
      spent,
      requests,
      compactions,
      seconds: (Date.now() - startedAt) / 1000,
      ...defined({ cut: this.#cut, limit }),
    }
  }

  /** Interrupts the running turn, and kills the program if that does not help. */
  cut(cut: TurnCut): void {
    if (!this.#isInTurn || this.#cut !== undefined) return
    this.#cut = cut
    this.#grace = setTimeout(() => void this.close(), GRACE_MS)
    void this.conversation.interrupt().catch(() => this.close())
  }

  /** Any output of the program counts as activity, even if it is no event. */
  markActive(): void {
    this.#onActivity?.()
  }

  async close(): Promise<void> {
    this.isDead = true
    await this.conversation.close()
  }

  #recordUsage(
    { context, window, point, model, costUsd }: EventOf<'usage'>,
    { onCrossed: crossed, endsWhenFull }: TurnOptions,
  ): void {
    this.window = window ?? this.window
    this.#reportedPoint = point ?? this.#reportedPoint
    this.model ??= model
    this.costUsd = costUsd ?? this.costUsd
    this.lastRequestAt = Date.now()
    if (context === undefined) return
    this.context = context
    this.base ??= context
    const { newly, crossed: now } = crossThresholds(
      { tokens: context, point: this.point },
      String(this.#windowNumber),
      this.#crossed,
      this.budget,
    )
    this.#crossed = now
    for (const line of newly) crossed(line, this.gauge)
    if (endsWhenFull === false) return
    // Cut before the harness compacts, so that unreported work goes into the handoff.
    if (newly.some((line) => line !== 'smart-zone' && stageAction(line, this.budget) === 'force'))
      this.cut({ why: 'replace' })
  }
}

function setTimer(ms: number, ring: () => void): NodeJS.Timeout {
  return setTimeout(ring, Math.min(ms, LONGEST_TIMER_MS))
}

function minutes(ms: number): string {
  return ms < 60_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`
}

const SAME_TIMES = 3
const LONGEST_OUTPUT = 400

/** Detects an agent that repeats the same error while the tree stays unchanged. */
function detectSameErrors(
  fingerprint: () => string,
): (event: EventOf<'tool'>) => string | undefined {
  let last = ''
  let times = 0
  return ({ status, name, command, path, output = '' }) => {
    if (status !== 'failed') return undefined
    const subject = command ?? path
    // Times, durations and addresses differ between two runs of the same failure.
    const shape = output
      .slice(-LONGEST_OUTPUT)
      .replaceAll(/0x[0-9a-f]+|\d+(?:[.,:]\d+)*/gi, '#')
      .trim()
    // After a change the same error may have another cause.
    const sign = [name, subject ?? '', shape, fingerprint()].join('\n')
    times = sign === last ? times + 1 : 1
    last = sign
    if (times < SAME_TIMES) return undefined
    times = 0
    return `${subject ?? name} failed ${SAME_TIMES} times in the same way`
  }
}
