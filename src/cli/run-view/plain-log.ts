import { line } from '../text.ts'
import type { RunEvent } from '../../run/events.ts'
import { clock } from '../amounts.ts'
import { costWords, gaugeWords, name, nearby, spendParts, stoppingWords, wordsOf } from './words.ts'

/** Use is told again when it has moved by so many points of the way. */
const POINTS = 5
/** Where nobody knows the way, when so many tokens were added. */
const TOKENS = 10_000

/** A run as lines of a log: the time of day and what. Remembers what it said of the use, to say only what is news. */
export class PlainLog {
  /** By delegate, where several work at once. */
  readonly #saidAt = new Map<string | undefined, number>()
  readonly #worktrees = new Map<string | undefined, string>()
  #task: string | undefined

  lines(event: RunEvent): readonly string[] {
    if (
      (event.type === 'run.started' || event.type === 'delegate.started') &&
      event.worktree !== undefined
    )
      this.#worktrees.set(event.delegate, event.worktree)
    if (event.type === 'task.started' && event.delegate === undefined) this.#task = name(event.task)
    if (event.type === 'task.done' || event.type === 'task.parked' || event.type === 'task.blocked')
      this.#task = undefined
    const words = this.#words(event)
    if (words === undefined) return []
    return [`${clock(event.at)}  ${words}`]
  }

  #words(event: RunEvent): string | undefined {
    if (event.type === 'usage') return this.#usage(event)
    return event.type === 'stopping'
      ? stoppingWords(event.how, this.#task)
      : wordsOf(nearby(event, this.#worktrees.get(event.delegate)))
  }

  #usage({ delegate, gauge, spend }: Extract<RunEvent, { type: 'usage' }>): string | undefined {
    // What was used is told, and not yet how full the context is.
    if (gauge.context === 0) return undefined
    const now = gauge.percent === undefined ? gauge.context / TOKENS : gauge.percent / POINTS
    // Less than before is another conversation, or a compaction.
    if (Math.abs(now - (this.#saidAt.get(delegate) ?? 0)) < 1) return undefined
    this.#saidAt.set(delegate, now)
    return `${delegate === undefined ? '' : `[${line(delegate, 40)}] `}ctx ${gaugeWords(gauge)}, spent ${spendParts(spend).slice(0, 3).join(', ')}, ${costWords(spend)}`
  }
}
