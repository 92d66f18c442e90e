import { buildCommand } from '@stricli/core'
import { relative, resolve } from 'node:path'
import type { Measurement, Study } from '../../study/contract.ts'
import type { MeasureProgress } from '../../study/measure/measure.ts'
import type { Context } from '../../context/context.ts'
import { Misuse } from '../../context/errors.ts'
import { json, number, text, toggle } from '../../context/flags.ts'
import { Interrupt } from '../../context/interrupt.ts'
import { Output, withJsonErrors } from '../../context/output.ts'
import { ProgressLine, bar } from '../../print/terminal/progress-line.ts'
import { defined } from '../../../text/defined.ts'

interface Flags {
  readonly full?: boolean
  readonly quick?: boolean
  readonly sessions?: number
  readonly seed?: number
  readonly measure?: boolean
  readonly report?: string
  readonly json?: boolean
}

const FULL = 100_000
const QUICK = 10_000
const MOST = 10_000_000
const SEED = 42

export const simulate = buildCommand<Flags, [], Context>({
  docs: {
    brief: "Show what keeping a session's state costs, simulated and measured",
    fullDescription: [
      'Draws the sessions of a published study of session.json again, with its parameters and its seed, and puts beside them what was',
      'measured of Stint by killing it, by writing at once, by cutting writes short and by working through sessions. With --measure all of',
      'that is done on this machine, which takes some minutes, and what was measured is used from then on.',
    ].join('\n'),
    customUsage: [
      { input: '', brief: `the study: ${FULL.toLocaleString('en-GB')} sessions an arm` },
      { input: '--quick', brief: `${QUICK.toLocaleString('en-GB')} of them` },
      { input: '--report study.html', brief: 'a page with charts besides' },
      { input: '--measure', brief: 'measure Stint on this machine first' },
      { input: '--sessions 1000 --seed 7 --json', brief: 'others, for programs' },
    ],
  },
  parameters: {
    flags: {
      full: toggle(
        `Draw ${FULL.toLocaleString('en-GB')} sessions for each arm, as the study did (the default)`,
      ),
      quick: toggle(
        `Draw ${QUICK.toLocaleString('en-GB')}; with --measure, few trials, which are not kept`,
      ),
      sessions: number('Draw so many'),
      seed: number(`Where the drawing begins (default ${SEED}, the study's)`),
      measure: toggle('Measure Stint on this machine first, and keep what was measured'),
      report: text('Write a page with charts, too', 'FILE'),
      json,
    },
  },
  async func(flags) {
    const output = new Output(this)
    await withJsonErrors(this, flags, output, async () => {
      const sessions = sessionsOf(flags)
      const seed = seedOf(flags)
      const path = flags.report === undefined ? undefined : resolve(this.cwd, flags.report)
      const { reportTarget, writeReport } = await import('../../study/report/page.ts')
      // Before the work: a file that cannot be written is known at once.
      if (path !== undefined) reportTarget(path)
      const progress = ProgressLine.on(this)
      const { measurement, measured } = await measurementFor(flags, this.env, progress)
      const { runStudy } = await import('../../study/study.ts')
      const { analyse } = await import('../../study/sensitivity.ts')
      const { describeStudy } = await import('../../print/study.ts')
      const draw = (what: string) => (drawn: number, total: number) =>
        progress?.draw(() => `${bar(drawn / total)}  ${what}`)
      const study = await runStudy({
        sessions,
        seed,
        measurement,
        measured,
        onProgress: draw('sessions drawn'),
      })
      const sensitivity = await analyse(study, draw('assumptions changed'))
      progress?.clear()
      if (path !== undefined) writeReport(path, study, sensitivity)
      const value = { ...study, sensitivity, ...defined({ report: path }) }
      output.result(flags.json, value, () => describeStudy(study, sensitivity, output))
      if (path !== undefined && flags.json !== true)
        output.talk(`the page is ${relative(this.cwd, path)}`)
    })
  },
})

function sessionsOf({ full, quick, sessions }: Flags): number {
  const given = [full === true, quick === true, sessions !== undefined].filter(Boolean).length
  if (given > 1)
    throw new Misuse(
      '--full, --quick and --sessions each say how many sessions',
      'give one of them',
    )
  if (sessions === undefined) return quick === true ? QUICK : FULL
  if (sessions < 1 || sessions > MOST) {
    throw new Misuse(
      `${sessions} sessions cannot be drawn`,
      `give --sessions a number from 1 to ${MOST.toLocaleString('en-GB')}`,
    )
  }
  return sessions
}

function seedOf({ seed = SEED }: Flags): number {
  if (seed < Number.MAX_SAFE_INTEGER) return seed
  throw new Misuse(`${seed} is too large for a seed`, 'give --seed a number below 2^53')
}

/** What was measured of Stint: now, when asked; else here before; else as it was shipped. */
async function measurementFor(
  flags: Flags,
  env: NodeJS.ProcessEnv,
  progress: ProgressLine | undefined,
): Promise<Pick<Study, 'measurement' | 'measured'>> {
  const { readMeasured, saveMeasured } = await import('../../study/measure/kept.ts')
  if (flags.measure === true) {
    const size = flags.quick === true ? 'quick' : 'full'
    const measurement = await measureHere(size, progress)
    // A few trials bound next to nothing; they are not to take the place of many.
    if (size === 'full') saveMeasured(measurement, env)
    return { measurement, measured: 'here' }
  }
  const { shipped } = await import('../../study/measure/shipped.ts')
  const here = readMeasured(env)
  // What was measured of another version says nothing of this one.
  if (here?.version === shipped.version) return { measurement: here, measured: 'here' }
  return { measurement: shipped, measured: 'shipped' }
}

async function measureHere(
  size: 'full' | 'quick',
  progress: ProgressLine | undefined,
): Promise<Measurement> {
  const { measure } = await import('../../study/measure/measure.ts')
  // What is tried out is removed, however the measuring ends.
  const interrupt = new Interrupt('SIGINT', 'SIGTERM', 'SIGHUP')
  try {
    const onProgress = ({ what, done, total }: MeasureProgress) =>
      progress?.draw(() => `${bar(done / total)}  ${what}`)
    return await measure({ size, onProgress, signal: interrupt.signal })
  } finally {
    interrupt.dispose()
    progress?.clear()
  }
}
