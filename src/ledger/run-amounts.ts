import type { RunEntry } from '../run/entries.ts'
import { type ComparedConversation, compareConversations } from '../run/report.ts'
import { findPrice } from '../context/budget/prices.ts'
import { type Attempt, type RunState, foldRun, totalTokens } from '../run/run-state.ts'
import { asCount } from '../text/json-fields.ts'
import {
  type Amounts,
  type AmountsByDay,
  DailyAmounts,
  charsForTokens,
  dayOf,
  saving,
} from './amounts.ts'
import { defined } from '../text/defined.ts'

export interface RunTaskAmounts {
  readonly session?: string
  readonly task?: { readonly id: string; readonly name: string }
  readonly days: AmountsByDay
  readonly updatedAt: string
}

export interface RunAmounts {
  readonly startedAt: string
  readonly updatedAt: string
  readonly name?: string
  readonly of?: string
  readonly parts: readonly RunTaskAmounts[]
  readonly setups: Readonly<Record<string, number>>
}

export function runAmounts(entries: readonly RunEntry[]): RunAmounts | undefined {
  const state = foldRun(entries)
  if (state === undefined) return undefined
  const parts = new Parts(state)
  for (const { at } of entries) parts.add(at, {}, { writes: 1 })
  const openedAt = new Map<number, string>()
  for (const { at, kind, data } of entries)
    if (kind === 'conversation.opened') openedAt.set(data.number, at)
  for (const conversation of compareConversations(state))
    ofConversation(
      parts,
      conversation,
      openedAt.get(conversation.number) ?? state.startedAt,
      state.started.harness,
    )
  const order = state.started.delegate
  return {
    startedAt: state.startedAt,
    updatedAt: state.lastAt,
    ...defined({ name: order?.name, of: order?.run }),
    parts: parts.all,
    setups: Object.fromEntries(
      state.conversations.flatMap(({ id, opened }) =>
        typeof id === 'string' ? [[id, opened.setup] as const] : [],
      ),
    ),
  }
}

/** The usual price ratios. */
const USUAL = { input: 1, cacheRead: 0.1, cacheWrite: 1.25 }

/** In tokens of new input, by the model's prices. Counts only Stint's part of the setup: the agent's own may be cached anyway. */
function savedByStaying(
  { boilerplateAvoided, model, reread }: ComparedConversation,
  harness: string,
) {
  const { price } = findPrice(model ?? harness, []) ?? {}
  const weights = price === undefined || price.input === 0 ? USUAL : price
  const history = reread.reduce((sum, tokens) => sum + tokens, 0)
  return (
    (boilerplateAvoided * (weights.cacheWrite - weights.cacheRead) - history * weights.cacheRead) /
    weights.input
  )
}

/** Shared setup is split evenly, savings by use. */
function ofConversation(
  parts: Parts,
  conversation: ComparedConversation,
  openedAt: string,
  harness: string,
) {
  const { own, session, setup, tasks } = conversation
  if (own.length === 0) {
    parts.add(openedAt, { session }, injected(setup))
    return
  }
  const spent = own.map(spentBy)
  const all = spent.reduce((sum, tokens) => sum + tokens, 0)
  const batching = savedByStaying(conversation, harness)
  for (const [index, attempt] of own.entries()) {
    const { at, started } = attempt
    const whose = { session, task: started.task }
    const share = all === 0 ? 1 / own.length : spent[index]! / all
    parts.add(at, whose, injected(asCount(started.text) ?? 0))
    parts.add(at, whose, { ...injected(setup / own.length), injections: index === 0 ? 1 : 0 })
    if (tasks > 1) parts.add(at, whose, saving('batching', batching * share, (tasks - 1) * share))
    if (conversation.profilesNotLoaded !== 0)
      parts.add(
        at,
        whose,
        saving('profiles', conversation.profilesNotLoaded / own.length, 1 / own.length),
      )
  }
}

function injected(tokens: number) {
  return { injections: 1, injectedTokens: tokens, injectedChars: charsForTokens(tokens) }
}

function spentBy({ spent }: Attempt) {
  return Object.values(spent).reduce((sum, usage) => sum + totalTokens(usage), 0)
}

type Whose = Pick<RunTaskAmounts, 'session' | 'task'>

class Parts {
  readonly #parts = new Map<
    string,
    { readonly whose: Whose; readonly sums: DailyAmounts; updatedAt: string }
  >()
  readonly #task: string | undefined

  constructor({ started }: RunState) {
    this.#task = started.delegate?.task
  }

  add(at: string, { session, task }: Whose, amounts: Partial<Amounts>) {
    const id = task === undefined ? undefined : (this.#task ?? task.id)
    const key = `${session ?? ''} ${id ?? ''}`
    const whose = defined({
      session,
      task: task === undefined || id === undefined ? undefined : { id, name: task.name },
    })
    const part = this.#parts.get(key) ?? { whose, sums: new DailyAmounts(), updatedAt: at }
    part.sums.add(dayOf(at), amounts)
    if (at > part.updatedAt) part.updatedAt = at
    this.#parts.set(key, part)
  }

  get all() {
    return [...this.#parts.values()].map(({ whose, sums, updatedAt }) => ({
      ...whose,
      days: sums.byDay,
      updatedAt,
    }))
  }
}
