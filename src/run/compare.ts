// A run against a conversation for each task: the set-up and the start that were not paid again, and the history that was read again.
import { type OwnPrice, type Price, priceOf } from '../context/budget/prices.ts'
import { boilerplateAvoided } from './texts/measure.ts'
import type { Comparison } from './report.ts'
import type { Attempt, RunState } from './run-state.ts'
import { defined } from '../text/defined.ts'

/** One conversation of a run in that comparison. */
export interface ComparedConversation {
  readonly number: number
  readonly session: string
  readonly model?: string
  /** Its attempts, in their order. */
  readonly own: readonly Attempt[]
  readonly setup: number
  readonly tasks: number
  /** Tokens with which it began. */
  readonly start: number
  readonly boilerplateAvoided: number
  /** What each later attempt read again of the tasks before it. */
  readonly reread: readonly number[]
  readonly profilesNotLoaded: number
}

export function compareConversations({
  attempts,
  conversations,
}: RunState): readonly ComparedConversation[] {
  return conversations.map(({ opened: { number, session, setup }, model, notLoaded }) => {
    const own = attempts.filter(({ started }) => started.conversation === number)
    const tasks = new Set(own.map(({ started }) => started.task.id)).size
    const start = startOf(own)
    // What earlier tasks left in the context, read with each request. The start of a conversation would be read either way.
    const reread = own.flatMap(({ started: { isFirst, context }, requests }) => {
      return isFirst || context === undefined ? [] : [Math.max(0, context - start) * requests]
    })
    const avoided = boilerplateAvoided([{ setup, tasks }])
    const known = typeof model === 'string' ? { model } : {}
    return {
      number,
      session,
      ...known,
      own,
      setup,
      tasks,
      start,
      boilerplateAvoided: avoided,
      reread,
      profilesNotLoaded: notLoaded,
    }
  })
}

/** What a later task saved by going on: a fresh conversation writes its start into the cache, where this one read it, and its history. */
export function worthOfStaying(
  start: number,
  history: number,
  price: Pick<Price, 'cacheRead' | 'cacheWrite'>,
): number {
  return start * (price.cacheWrite - price.cacheRead) - history * price.cacheRead
}

export function compare(state: RunState, prices: readonly OwnPrice[]): Comparison {
  const conversations = compareConversations(state)
  let savedUsd: number | undefined = 0
  for (const { model, start, reread } of conversations) {
    const price = priceOf(model ?? state.started.harness, prices)?.price
    for (const history of reread) {
      if (price === undefined || savedUsd === undefined) savedUsd = undefined
      else savedUsd += worthOfStaying(start, history, price) / 1_000_000
    }
  }
  return {
    boilerplateAvoided: sum(conversations.map((one) => one.boilerplateAvoided)),
    historyReread: sum(conversations.flatMap(({ reread }) => reread)),
    profilesNotLoaded: sum(conversations.map((one) => one.profilesNotLoaded)),
    ...defined({ savedUsd }),
  }
}

/** Tokens with which a conversation begins: what it had before its second task, less what the first added. */
function startOf(own: readonly Attempt[]): number {
  const first = own.find(({ started }) => started.isFirst)
  const second = own.find(({ started }) => !started.isFirst && (started.context ?? 0) > 0)
  return Math.max(0, (second?.started.context ?? 0) - (first?.added ?? 0))
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
