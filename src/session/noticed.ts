// What hooks notice by themselves, folded. It is much, and only its recent end says where things stand; the
// journal has all of it.
import type { EntryKind } from './entries.ts'
import { amountOf, fields, item, optional, str, usageOf } from './entry-fields.ts'
import type { Item, Request } from './state.ts'
import type { WorkingShelf } from './working-shelf.ts'
import type { Handler } from './working-state.ts'
import { defined } from '../text/defined.ts'

export const NOTICED: { readonly [K in EntryKind]?: Handler<K> } = {
  'conversation.joined': (state, data, entry) => {
    const joined = { ...item(entry, data.conversation), harness: str(data.harness) }
    // Gone on with, it is no longer ended; the latest stands last.
    pushRecent(state.conversations, joined, 20)
  },
  'conversation.ended': (state, data, entry) => {
    const index = state.conversations.items.findLastIndex(
      (known) => known.text === data.conversation,
    )
    const known = state.conversations.items[index]
    if (known !== undefined)
      state.conversations.items[index] = { ...known, endedAt: entry.at, ...fields(data, 'reason') }
  },
  'request.made': (state, data, entry) => {
    state.requests.items.push({ ...item(entry, data.text), isRuling: data.isRuling === true })
    forgetRequest(state.requests)
  },
  'turn.ended': (state, data, entry) => {
    const usage = usageOf(data.usage)
    state.lastTurn = {
      at: entry.at,
      conversation: str(data.conversation),
      ...fields(data, 'said', 'failure', 'model'),
      ...defined({ usage }),
    }
  },
  'commit.made': (state, data, entry) => {
    const made = { ...item(entry, data.subject), commit: str(data.commit) }
    pushRecent(state.commits, made, 12, (known) => known.commit === made.commit)
  },
  'test.ran': (state, data, entry) => {
    pushRecent(
      state.tests,
      { ...item(entry, data.command), passed: data.passed === true, ...fields(data, 'summary') },
      12,
    )
  },
  'budget.crossed': (state, data, entry) => {
    const stage = data.stage === 'smart-zone' ? data.stage : amountOf(data.stage)
    const tokens = amountOf(data.tokens)
    if (stage === undefined || tokens === undefined) return
    const point = amountOf(data.point)
    const window = amountOf(data.window)
    const crossing = {
      ...item(entry, data.conversation),
      stage,
      tokens,
      ...defined({ point, window }),
      ...fields(data, 'source'),
    }
    pushRecent(state.crossings, crossing, 8)
  },
  'agent.finished': (state, data, entry) => {
    const asked = optional(data.task) ?? optional(data.type) ?? 'agent'
    pushRecent(state.agents, { ...item(entry, asked), ...fields(data, 'result') }, 8, () => false)
  },
}

/** The same thing noticed again takes the place of the earlier one, at the end. */
function pushRecent<T extends Item>(
  list: WorkingShelf<T>,
  added: T,
  limit: number,
  isSame: (known: T) => boolean = (known) => known.text === added.text,
): void {
  const index = list.items.findIndex(isSame)
  if (index !== -1) list.items.splice(index, 1)
  list.items.push(added)
  if (list.items.length <= limit) return
  list.items.shift()
  list.earlier += 1
}

const REQUESTS = 12
const RULINGS = 40

// The first request says what all of it is for, and a ruling holds until another one is given.
function forgetRequest(list: WorkingShelf<Request>): void {
  const others = list.items.slice(1)
  const oldest = (isRuling: boolean) => others.find((request) => request.isRuling === isRuling)
  const ordinary = others.filter((request) => !request.isRuling).length
  const forgotten =
    ordinary > REQUESTS
      ? oldest(false)
      : others.length - ordinary > RULINGS
        ? oldest(true)
        : undefined
  if (forgotten === undefined) return
  list.items.splice(list.items.indexOf(forgotten), 1)
  list.earlier += 1
}
