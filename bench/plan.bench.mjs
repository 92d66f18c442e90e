// Cost of the planner on generated backlogs, against the optimum and against simpler rules. Without
// a clock: the same seeds give the same numbers.
import { pathToFileURL } from 'node:url'
import { bundleSources } from './bundle.mjs'

const SOURCES = {
  'test/plan/figures.ts': [
    'BACKLOGS',
    'MOST_COMPACTIONS',
    'MOST_OVER_LEAST',
    'RIVALS',
    'figuresOf',
  ],
}
/** With fewer, chance outweighs the planner. */
const FEWEST = 60

export async function run({ scale = 1 } = {}) {
  const bundle = await bundleSources(SOURCES)
  try {
    const { BACKLOGS, MOST_COMPACTIONS, MOST_OVER_LEAST, RIVALS, figuresOf } = await import(
      pathToFileURL(bundle.file).href
    )
    const backlogs = Math.max(FEWEST, Math.round(BACKLOGS * scale))
    const { of, planOverLeast, tasks } = figuresOf(backlogs)
    const { planner } = of
    const overLeast = (name, ratio) => ({
      name,
      ratio,
      limit: `at most ${MOST_OVER_LEAST}`,
      ok: ratio <= MOST_OVER_LEAST,
    })
    return [
      overLeast(
        `planner, ${backlogs} backlogs: a plan against the least for the same order and forecasts`,
        planOverLeast,
      ),
      overLeast(
        'planner: the work against the least for one who knows every size beforehand',
        planner.overLeast,
      ),
      ...RIVALS.map((rival) => {
        const [ours, bare] = [of[rival].cost, planner.cost]
        const figures = {
          name: `${rival}, a task, against the planner`,
          ours,
          bare,
          unit: 'USD',
          ratio: ours / bare,
        }
        return { ...figures, limit: 'above 1', ok: ours > bare }
      }),
      {
        name: 'planner: compactions',
        note: `${(planner.compactions * 100).toFixed(2)} % of ${tasks} tasks`,
        ratio: planner.compactions / MOST_COMPACTIONS,
        limit: 'below 1 %',
        ok: planner.compactions < MOST_COMPACTIONS,
      },
    ]
  } finally {
    bundle.remove()
  }
}
