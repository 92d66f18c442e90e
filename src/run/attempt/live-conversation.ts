// One conversation of a run or of a prompt: its turns, what they used, how full it is, and when a turn has to be ended for it.
import {
  type BudgetSettings,
  type Crossed,
  type Line,
  crossLines,
  percentOfWay,
  roleOf,
} from '../../context/budget/stages.ts'
import type {
  Conversation,
  Harness,
  HarnessEvent,
  OpenConversation,
  TurnEnded,
} from '../../harness/contract/drive.ts'
import type { PlannedTask } from '../plan/order.ts'
import { type Draft, type Usage, draft } from '../../session/entries.ts'
import type { Breaker, Gauge } from '../entries.ts'
import { addSpent } from '../run-state.ts'
import { defined } from '../../text/defined.ts'
import { fingerprint } from '../worktree/tree.ts'

/** Opens a conversation, or answers `stopped` where that comes first; one that is there too late is closed. */
export async function openUnlessStopped(
  harness: Harness,
  options: OpenConversation,
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

/** What a session's journal says of a line that a conversation has crossed. */
export function crossedEntry(by: string, conversation: string, stage: Line, gauge: Gauge): Draft {
  const { context, point, window } = gauge
  const data = { conversation, stage, tokens: context, source: by, ...defined({ point, window }) }
  return draft('budget.crossed', data, { by })
}

/** What a session's journal says of a compaction, which the harness may report more than once. */
export function compactedEntry(
  by: string,
  conversation: string | undefined,
  { trigger, tokensBefore, boundary }: Extract<HarnessEvent, { type: 'compaction' }>,
): Draft {
  const data = defined({ trigger, tokensBefore, boundary, conversation })
  const once = boundary === undefined ? undefined : `compaction:${boundary}`
  return draft('context.compacted', data, { by, ...defined({ once }) })
}

/** Why a turn was ended before the agent ended it. */
export type Cut =
  | { readonly why: 'stop' | 'replace' }
  | { readonly why: 'over'; readonly limit: 'budget tokens' | 'budget usd' | 'max minutes' }
  | { readonly why: 'breaker'; readonly which: Breaker; readonly detail: string }

export interface Turn {
  readonly ended: TurnEnded
  readonly cut?: Cut
  readonly said: string
  readonly spent: Readonly<Record<string, Usage>>
  readonly requests: number
  readonly compactions: number
  readonly limit?: { readonly message: string; readonly resetsAt?: string }
  readonly seconds: number
}

export interface TurnOptions {
  /** So long may it say nothing, and so long while a command of its runs, which may say nothing either. */
  readonly silenceMs: number
  readonly commandMs: number
  /** Ends the turn. */
  readonly isStopped: AbortSignal
  /** The turn is over by then, in any case. */
  readonly deadline: number
  /** Takes each event, for whoever looks on. */
  readonly tell: (event: HarnessEvent) => void
  /** Asked whenever something was used: whether that was too much. */
  readonly isOver: (spent: Readonly<Record<string, Usage>>) => Cut | undefined
  readonly crossed: (line: Line, gauge: Gauge) => void
  /** What the files amount to now. Without it nobody looks whether the same thing fails again and again. */
  readonly fingerprint?: () => string
  /** The agent ends the turn itself, however full its context gets. */
  readonly endsWhenFull?: false
}

const GRACE_MS = 10_000

export class LiveConversation {
  readonly done: PlannedTask[] = []
  context = 0
  /** Tokens of its first request: what a fresh conversation begins with. */
  base: number | undefined
  window: number | undefined
  model: string | undefined
  costUsd: number | undefined
  isDead = false
  lastRequestAt = 0
  hasHadTurn = false
  readonly #conversation: Conversation
  readonly #budget: BudgetSettings
  /** What was used stands under this name where the harness does not tell the model. */
  readonly #harness: string
  readonly #pointOf: (window: number | undefined, model: string | undefined) => number | undefined
  #crossed: Crossed | undefined
  #windowNumber = 1
  #cut: Cut | undefined
  #isInTurn = false
  #grace: NodeJS.Timeout | undefined
  #heard: (() => void) | undefined
  /** Where it compacts, as the harness itself tells. */
  #toldPoint: number | undefined

  constructor(
    readonly number: number,
    conversation: Conversation,
    budget: BudgetSettings,
    pointOf: (window: number | undefined, model: string | undefined) => number | undefined,
    harness: string,
    /** The lines that it had crossed before it was gone on with. */
    before: readonly Line[] = [],
  ) {
    if (before.length > 0) this.#crossed = { window: String(this.#windowNumber), lines: before }
    this.#harness = harness
    this.#conversation = conversation
    this.#budget = budget
    this.#pointOf = pointOf
  }

  get id(): string | undefined {
    return this.#conversation.id
  }

  get point(): number | undefined {
    return this.#toldPoint ?? this.#pointOf(this.window, this.model)
  }

  /** The lines that were crossed since it was begun, or last compacted. */
  get crossed(): readonly Line[] {
    return this.#crossed?.window === String(this.#windowNumber) ? this.#crossed.lines : []
  }

  get gauge(): Gauge {
    const { context, window, point } = this
    const percent = percentOfWay({ tokens: context, point })
    return {
      context,
      smartZone: this.#budget.smartZone,
      stages: this.#budget.stages,
      ...defined({ window, point, percent }),
    }
  }

  async turn(text: string, options: TurnOptions): Promise<Turn> {
    const startedAt = Date.now()
    const sameError =
      options.fingerprint === undefined ? undefined : new SameError(options.fingerprint)
    let spent: Readonly<Record<string, Usage>> = {}
    let requests = 0
    let compactions = 0
    let limit: Turn['limit']
    let ended: TurnEnded | undefined
    let said = ''
    this.#cut = undefined
    this.#isInTurn = true
    this.hasHadTurn = true
    const running = new Set<string>()
    const patience = () =>
      running.size > 0 ? Math.max(options.silenceMs, options.commandMs) : options.silenceMs
    const silence = new Alarm(patience, () =>
      this.cut({ why: 'breaker', which: 'silence', detail: `no word for ${minutes(patience())}` }),
    )
    this.#heard = () => silence.again()
    const late = new Alarm(
      () => Math.max(1, options.deadline - startedAt),
      () =>
        this.cut({
          why: 'breaker',
          which: 'time',
          detail: `not done after ${minutes(options.deadline - startedAt)}`,
        }),
    )
    const stop = () => this.cut({ why: 'stop' })
    options.isStopped.addEventListener('abort', stop, { once: true })
    // Only when it was prompted there is something to stop.
    if (options.isStopped.aborted) queueMicrotask(stop)
    try {
      for await (const event of this.#conversation.prompt(text)) {
        if (event.type === 'tool') running[event.status === 'started' ? 'add' : 'delete'](event.id)
        silence.again()
        options.tell(event)
        if (event.type === 'started') this.#started(event)
        else if (event.type === 'text') said = event.text
        else if (event.type === 'tool') {
          const detail = sameError?.saw(event)
          if (detail !== undefined) this.cut({ why: 'breaker', which: 'same error', detail })
        } else if (event.type === 'usage') {
          if (event.spent !== undefined) {
            requests += 1
            spent = addSpent(spent, { [event.model ?? this.model ?? this.#harness]: event.spent })
          }
          this.#used(event, options)
          const over = options.isOver(spent)
          if (over !== undefined) this.cut(over)
        } else if (event.type === 'compaction') {
          compactions += 1
          this.#windowNumber += 1
        } else if (event.type === 'limit') limit = event
        else if (event.type === 'turn ended') ended = event
      }
    } finally {
      options.isStopped.removeEventListener('abort', stop)
      this.#heard = undefined
      silence.off()
      late.off()
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

  /** Ends the turn that runs, by asking first and by ending the program where asking does not help. */
  cut(cut: Cut): void {
    if (!this.#isInTurn || this.#cut !== undefined) return
    this.#cut = cut
    const conversation = this.#conversation
    this.#grace = setTimeout(() => void this.close(), GRACE_MS)
    void conversation.interrupt().catch(() => this.close())
  }

  /** Something came from it, whether or not it means anything to us. */
  heard(): void {
    this.#heard?.()
  }

  async close(): Promise<void> {
    this.isDead = true
    await this.#conversation.close()
  }

  #started({ model, window }: Extract<HarnessEvent, { type: 'started' }>): void {
    this.model = model ?? this.model
    this.window = window ?? this.window
  }

  #used(
    { context, window, point, model, costUsd }: Extract<HarnessEvent, { type: 'usage' }>,
    { crossed, endsWhenFull }: TurnOptions,
  ): void {
    this.window = window ?? this.window
    this.#toldPoint = point ?? this.#toldPoint
    this.model ??= model
    this.costUsd = costUsd ?? this.costUsd
    this.lastRequestAt = Date.now()
    if (context === undefined) return
    this.context = context
    this.base ??= context
    const { newly, crossed: now } = crossLines(
      { tokens: context, point: this.point },
      String(this.#windowNumber),
      this.#crossed,
      this.#budget,
    )
    this.#crossed = now
    for (const line of newly) crossed(line, this.gauge)
    if (endsWhenFull === false) return
    // Before the harness throws it away itself: what is not said yet goes into the handoff.
    if (newly.some((line) => line !== 'smart-zone' && roleOf(line, this.#budget) === 'force'))
      this.cut({ why: 'replace' })
  }
}

class Alarm {
  readonly #ms: () => number
  readonly #ring: () => void
  #timer: NodeJS.Timeout | undefined

  constructor(ms: () => number, ring: () => void) {
    this.#ms = ms
    this.#ring = ring
    this.again()
  }

  again(): void {
    this.off()
    // Longer cannot be told to a timer, and nobody waits that long.
    this.#timer = setTimeout(this.#ring, Math.min(this.#ms(), 2 ** 31 - 1))
  }

  off(): void {
    clearTimeout(this.#timer)
  }
}

function minutes(ms: number): string {
  return ms < 60_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`
}

const TIMES = 3
const LONGEST = 400

/** Notices an agent that does the same thing again and again and gets the same error, while nothing in the tree changes. */
export class SameError {
  readonly #fingerprint: () => string
  #last = ''
  #times = 0

  constructor(fingerprint: () => string) {
    this.#fingerprint = fingerprint
  }

  /** Answers what happened when it happened once too often. */
  saw(event: Extract<HarnessEvent, { type: 'tool' }>): string | undefined {
    if (event.status !== 'failed') return undefined
    // After a change the same error may have another cause, whichever way it was changed.
    const sign = [
      event.name,
      event.command ?? event.path ?? '',
      signOf(event.output ?? ''),
      this.#fingerprint(),
    ].join('\n')
    this.#times = sign === this.#last ? this.#times + 1 : 1
    this.#last = sign
    if (this.#times < TIMES) return undefined
    this.#times = 0
    return `${event.command ?? event.path ?? event.name} failed ${TIMES} times in the same way`
  }
}

// Times, durations and addresses differ between two runs of the same failure.
function signOf(output: string): string {
  return output
    .slice(-LONGEST)
    .replaceAll(/0x[0-9a-f]+|\d+(?:[.,:]\d+)*/gi, '#')
    .trim()
}

/** Sees a turn that is compacted again and again and gets nowhere. Otherwise it would go on for as long as a task may take. */
export class IdleCompactions {
  readonly #tree: string
  readonly #most: number
  #last: string | undefined
  #idle = 0

  constructor(tree: string, most: number) {
    this.#tree = tree
    this.#most = most
  }

  /** To be told of each compaction; answers what is wrong once it is one too many. */
  compacted(): string | undefined {
    const now = fingerprint(this.#tree)
    this.#idle = now === this.#last ? this.#idle + 1 : 0
    this.#last = now
    return this.#idle < this.#most
      ? undefined
      : `nothing in the tree changed from one compaction to the next, ${this.#idle} times`
  }
}
