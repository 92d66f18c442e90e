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
  const taskAmounts = new TaskAmounts(state)
  for (const { at } of entries) taskAmounts.add(at, {}, { writes: 1 })
  const openedAt = new Map<number, string>()
  for (const { at, kind, data } of entries)
    if (kind === 'conversation.opened') openedAt.set(data.number, at)
  for (const conversation of compareConversations(state))
    addConversation(
      taskAmounts,
      conversation,
      openedAt.get(conversation.number) ?? state.startedAt,
      state.started.harness,
    )
  const delegate = state.started.delegate
  return {
    startedAt: state.startedAt,
    updatedAt: state.lastAt,
    ...defined({ name: delegate?.name, of: delegate?.run }),
    parts: taskAmounts.all,
    setups: Object.fromEntries(
      state.conversations.flatMap(({ id, opened }) =>
        typeof id === 'string' ? [[id, opened.setup] as const] : [],
      ),
    ),
  }
}

/** Typical price ratios. */
const DEFAULT_WEIGHTS = { input: 1, cacheRead: 0.1, cacheWrite: 1.25 }

/** In tokens of new input, by the model's prices. Counts only Stint's part of the setup: the agent's own may be cached anyway. */
function batchingSavings(
  { boilerplateAvoided, model, reread }: ComparedConversation,
  harness: string,
) {
  const { price } = findPrice(model ?? harness, []) ?? {}
  const weights = price === undefined || price.input === 0 ? DEFAULT_WEIGHTS : price
  const history = reread.reduce((sum, tokens) => sum + tokens, 0)
  return (
    (boilerplateAvoided * (weights.cacheWrite - weights.cacheRead) - history * weights.cacheRead) /
    weights.input
  )
}

/** Shared setup is split evenly, savings by use. */
function addConversation(
  taskAmounts: TaskAmounts,
  conversation: ComparedConversation,
  openedAt: string,
  harness: string,
) {
  const { own, session, setup, tasks } = conversation
  if (own.length === 0) {
    taskAmounts.add(openedAt, { session }, injected(setup))
    return
  }
  const spent = own.map(tokensSpent)
  const total = spent.reduce((sum, tokens) => sum + tokens, 0)
  const batching = batchingSavings(conversation, harness)
  for (const [index, attempt] of own.entries()) {
    const { at, started } = attempt
    const owner = { session, task: started.task }
    const share = total === 0 ? 1 / own.length : spent[index]! / total
    taskAmounts.add(at, owner, injected(asCount(started.text) ?? 0))
    taskAmounts.add(at, owner, { ...injected(setup / own.length), injections: index === 0 ? 1 : 0 })
    if (tasks > 1)
      taskAmounts.add(at, owner, saving('batching', batching * share, (tasks - 1) * share))
    if (conversation.profilesNotLoaded !== 0)
      taskAmounts.add(
        at,
        owner,
        saving('profiles', conversation.profilesNotLoaded / own.length, 1 / own.length),
      )
  }
}

function injected(tokens: number) {
  return { injections: 1, injectedTokens: tokens, injectedChars: charsForTokens(tokens) }
}

function tokensSpent({ spent }: Attempt) {
  return Object.values(spent).reduce((sum, usage) => sum + totalTokens(usage), 0)
}

type AmountOwner = Pick<RunTaskAmounts, 'session' | 'task'>

class TaskAmounts {
  readonly #amounts = new Map<
    string,
    { readonly owner: AmountOwner; readonly sums: DailyAmounts; updatedAt: string }
  >()
  readonly #task: string | undefined

  constructor({ started }: RunState) {
    this.#task = started.delegate?.task
  }

  add(at: string, { session, task }: AmountOwner, amounts: Partial<Amounts>) {
    const id = task === undefined ? undefined : (this.#task ?? task.id)
    const key = `${session ?? ''} ${id ?? ''}`
    const owner = defined({
      session,
      task: task === undefined || id === undefined ? undefined : { id, name: task.name },
    })
    const entry = this.#amounts.get(key) ?? { owner, sums: new DailyAmounts(), updatedAt: at }
    entry.sums.add(dayOf(at), amounts)
    if (at > entry.updatedAt) entry.updatedAt = at
    this.#amounts.set(key, entry)
  }

  get all() {
    return [...this.#amounts.values()].map(({ owner, sums, updatedAt }) => ({
      ...owner,
      days: sums.byDay,
      updatedAt,
    }))
  }
}
