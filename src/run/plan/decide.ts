import { number } from '../../context/budget/banner.ts'
import { LOOK_AHEAD, cheapest } from './cheapest.ts'
import type { Decision, Forecasts, PlannedTask, Standing } from './contract.ts'
import { shownCost } from './cost.ts'
import { relationToAll } from './related.ts'
import { forbiddenBy } from './rules.ts'
import { DEFAULT_PLAN, type PlanSettings, placesOf } from '../../project/config/plan-settings.ts'

/** `forecast`: as is cheapest; `fixed`: so many small tasks; `one`: each task in a conversation of its own. */
export type BatchMode = 'forecast' | 'fixed' | 'one'

/** Whether the next task is done in the conversation as it stands, or in a fresh one. `after` are those behind it, in order. */
export function decide(
  standing: Standing,
  next: PlannedTask,
  after: readonly PlannedTask[],
  forecasts: Forecasts,
  mode: BatchMode,
  settings: PlanSettings = DEFAULT_PLAN,
): Decision {
  if (standing.context <= 0)
    return { stay: false, rule: 'first', because: 'there is no conversation yet' }
  if (isFresh(standing, forecasts))
    return { stay: true, rule: 'first', because: 'nothing was done in this conversation yet' }
  if (mode === 'one')
    return { stay: false, rule: 'one', because: 'each task gets a conversation of its own' }
  return (
    forbidden(standing, next, forecasts) ??
    (mode === 'fixed'
      ? byBatch(standing, next, settings)
      : byCost(standing, next, after, forecasts))
  )
}

/** What a conversation is given at its start is never counted to the token; leaving one so short would gain nothing. */
function isFresh({ done, context, base }: Standing, { start }: Forecasts): boolean {
  return done.length === 0 && context <= base + start.added
}

function forbidden(
  standing: Standing,
  next: PlannedTask,
  forecasts: Forecasts,
): Decision | undefined {
  const { context, point, smartZone } = standing
  const forecast = forecasts.of[next.sizeClass]
  const rule = forbiddenBy(context, forecast, standing)
  if (rule === undefined) return undefined
  const because =
    rule === 'smart zone'
      ? `${number(context)} tokens in the context, and the smart zone ends at ${number(smartZone)}`
      : `${number(context)} tokens in the context and up to ${number(forecast.added.margin)} for a ${next.sizeClass} task ` +
        `would pass the compaction point, ${number(point!)}`
  return { stay: false, rule, because }
}

function byCost(
  standing: Standing,
  next: PlannedTask,
  after: readonly PlannedTask[],
  forecasts: Forecasts,
): Decision {
  if (relationToAll(next, standing.done) === 'unrelated') {
    return {
      stay: false,
      rule: 'unrelated',
      because: 'it has nothing to do with what was done in this conversation',
    }
  }
  const { context, price, isWarm } = standing
  const cost = cheapest(standing, [next, ...after], forecasts)
  const [here, fresh] = [shownCost(price, cost.stay), shownCost(price, cost.leave)]
  const ahead =
    after.length === 0
      ? 'the last task'
      : `the ${Math.min(after.length + 1, LOOK_AHEAD)} tasks ahead`
  const again = `${isWarm ? '' : 'the cache is cold, and '}each request reads ${number(context)} tokens again`
  if (cost.stay > cost.leave) {
    return {
      stay: false,
      rule: 'cheaper fresh',
      cost,
      because: `${ahead}: about ${fresh} from a fresh start, ${here} from here, where ${again}`,
    }
  }
  return {
    stay: true,
    rule: 'fits',
    cost,
    because: `${ahead}: about ${here} from here, ${fresh} from a fresh start; ${again}`,
  }
}

function byBatch(
  { done, context, point, smartZone }: Standing,
  next: PlannedTask,
  settings: PlanSettings,
): Decision {
  const { places, leaveAbove } = settings.batch
  // Where the harness compacts is not always known; where a model stops reading well is close enough.
  const budget = point ?? smartZone
  const rule = 'batch'
  if (context > leaveAbove * budget) {
    const because = `${number(context)} tokens in the context are more than ${Math.round(leaveAbove * 100)} % of ${number(budget)}`
    return { stay: false, rule, because }
  }
  const taken = done.reduce((sum, task) => sum + placesOf(task.sizeClass, settings), 0)
  const wanted = placesOf(next.sizeClass, settings)
  const because = `${taken} of ${places} places are taken, and a ${next.sizeClass} task takes ${wanted}`
  return { stay: taken + wanted <= places, rule, because }
}
