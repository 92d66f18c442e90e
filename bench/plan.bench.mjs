// What the planner costs on made-up backlogs, against the least possible and against simpler rules. No clock is in it: the same
// seeds give the same figures.
import { pathToFileURL } from 'node:url'
import { bundleSources } from './bundle.mjs'

const SOURCES = { 'test/plan/figures.ts': ['BACKLOGS', 'MOST_COMPACTIONS', 'MOST_OVER_LEAST', 'RIVALS', 'figuresOf'] }
/** With fewer, chance says more than the planner. */
const FEWEST = 60

export async function run({ scale = 1 } = {}) {
  const bundle = await bundleSources(SOURCES)
  try {
    const { BACKLOGS, MOST_COMPACTIONS, MOST_OVER_LEAST, RIVALS, figuresOf } = await import(pathToFileURL(bundle.file).href)
    const backlogs = Math.max(FEWEST, Math.round(BACKLOGS * scale))
    const { of, planOverLeast, tasks } = figuresOf(backlogs)
    const { planner } = of
    const overLeast = (name, ratio) => ({ name, ratio, limit: `at most ${MOST_OVER_LEAST}`, ok: ratio <= MOST_OVER_LEAST })
    return [
      overLeast(`planner, ${backlogs} backlogs: a plan against the least for the same order and forecasts`, planOverLeast),
      overLeast('planner: the work against the least for one who knows every size beforehand', planner.overLeast),
      ...RIVALS.map((rival) => {
        const ratio = of[rival].cost / planner.cost
        return { name: `${rival} against the planner`, note: `${ratio.toFixed(4)}`, ratio, limit: 'above 1', ok: ratio > 1 }
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

if (import.meta.url === pathToFileURL(process.argv[1]).href) console.table(await run())
