// The simulation with 100,000 sessions per arm, against as many calls of Math.random.
import { pathToFileURL } from 'node:url'
import { bundleSources } from './bundle.mjs'
import { paired } from './paired.mjs'

const SOURCES = {
  'src/cli/study/study.ts': ['runStudy'],
  'src/cli/study/mersenne-twister.ts': ['MersenneTwister'],
  'src/cli/study/measured-rates.ts': ['measuredRates'],
}
const SESSIONS = 100_000
const SEED = 42
/** A portable draw is slower than Math.random, and each is used in a calculation. */
const LIMIT = 15

export async function run({ scale = 1, say = () => {} } = {}) {
  const bundle = await bundleSources(SOURCES)
  try {
    const { MersenneTwister, runStudy, measuredRates } = await import(
      pathToFileURL(bundle.file).href
    )
    const sessions = Math.max(1000, Math.round(SESSIONS * scale))
    const study = () => runStudy({ sessions, seed: SEED, measurement: measuredRates })
    const draws = await countDraws(MersenneTwister, study)
    say(`simulate: ${draws.toLocaleString('en')} draws`)
    const { a, b, ratio } = await paired(study, () => drawBare(draws))
    const { arms } = await study()
    const name = `the study, ${arms.length} arms of ${sessions.toLocaleString('en')} sessions, against its ${draws.toLocaleString('en')} draws by Math.random`
    return [{ name, ours: a, bare: b, ratio, limit: `at most ${LIMIT}`, ok: ratio <= LIMIT }]
  } finally {
    bundle.remove()
  }
}

/** Counted in the generator, outside of the timed runs. */
async function countDraws({ prototype }, study) {
  let draws = 0
  const own = { random: prototype.random, between: prototype.between }
  for (const [name, draw] of Object.entries(own)) {
    prototype[name] = function (...args) {
      draws += 1
      return draw.apply(this, args)
    }
  }
  try {
    await study()
  } finally {
    Object.assign(prototype, own)
  }
  return draws
}

let sum = 0

function drawBare(draws) {
  for (let count = 0; count < draws; count += 1) sum += Math.random()
  if (!(sum > 0)) throw new Error('nothing was drawn')
}
