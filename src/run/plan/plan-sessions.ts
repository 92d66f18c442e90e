import { type Spent, priced } from '../../context/budget/prices.ts'
import type { Decision, Forecasts, PlannedSession, PlannedTask, Standing } from './contract.ts'
import { type BatchMode, type Work, decide, expectedWork, spentOn } from './decide.ts'
import { DEFAULT_PLAN, type PlanSettings } from '../../project/config/plan-settings.ts'

/** How a run would go if every task took what is forecast. Each decision is the one that the run itself would make then. */
export function planSessions(
  order: readonly PlannedTask[],
  beginning: Standing,
  forecasts: Forecasts,
  mode: BatchMode,
  settings: PlanSettings = DEFAULT_PLAN,
): readonly PlannedSession[] {
  const drafts: Draft[] = []
  let standing = beginning
  for (const [place, task] of order.entries()) {
    const decision = decide(standing, task, order.slice(place + 1), forecasts, mode, settings)
    if (!decision.stay || drafts.length === 0) {
      drafts.push(new Draft(decision))
      // Also a conversation that stands may be gone on with.
      if (!decision.stay)
        standing = { ...beginning, context: beginning.base, done: [], isWarm: false }
    }
    const isFirst = !decision.stay || decision.rule === 'first'
    const work = expectedWork(forecasts.of[task.sizeClass], isFirst ? forecasts.start : undefined)
    drafts.at(-1)!.add(task, work, standing)
    standing = {
      ...standing,
      context: standing.context + work.added,
      done: [...standing.done, task],
      isWarm: true,
    }
  }
  return drafts.map((draft) => draft.finished(beginning, forecasts))
}

class Draft {
  readonly #because: string
  readonly #tasks: PlannedTask[] = []
  #context = 0
  #seconds = 0
  #spent: Spent = { input: 0, output: 0, cacheRead: 0, cacheWritten: 0, cacheWrittenHour: 0 }

  constructor({ because }: Decision) {
    this.#because = because
  }

  add(task: PlannedTask, work: Work, { context, isWarm }: Standing): void {
    const spent = spentOn(work, context, isWarm)
    this.#tasks.push(task)
    this.#context = context + work.added
    this.#seconds += work.seconds
    this.#spent = {
      ...this.#spent,
      output: this.#spent.output + spent.output,
      cacheRead: this.#spent.cacheRead + spent.cacheRead,
      cacheWritten: this.#spent.cacheWritten + spent.cacheWritten,
    }
  }

  finished({ price }: Standing, forecasts: Forecasts): PlannedSession {
    const last = forecasts.of[this.#tasks.at(-1)!.sizeClass].added
    const { output, cacheRead, cacheWritten } = this.#spent
    return {
      tasks: this.#tasks.map((task) => ({ task, forecast: forecasts.of[task.sizeClass] })),
      because: this.#because,
      // Before each task it is looked again where things stand, so that only the last can come out larger than thought.
      context: {
        middle: Math.round(this.#context),
        margin: Math.round(this.#context - last.middle + last.margin),
      },
      tokens: {
        input: 0,
        output: Math.round(output),
        cacheRead: Math.round(cacheRead),
        cacheWritten: Math.round(cacheWritten),
      },
      ...(price === undefined ? {} : { usd: priced(this.#spent, price) }),
      seconds: Math.round(this.#seconds),
    }
  }
}
