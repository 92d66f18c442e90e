import { buildCommand } from '@stricli/core'
import { relative, resolve } from 'node:path'
import type { Context } from '../../context/context.ts'
import { Misuse } from '../../context/errors.ts'
import { json, number, text, toggle } from '../../context/flags.ts'
import { Output, withJsonErrors } from '../../context/output.ts'
import { ProgressLine, bar } from '../../print/terminal/live.ts'
import { defined } from '../../../text/defined.ts'

interface Flags {
  readonly full?: boolean
  readonly quick?: boolean
  readonly sessions?: number
  readonly seed?: number
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
      'measured of Stint by killing it, by writing at once, by cutting writes short and by working through sessions.',
    ].join('\n'),
    customUsage: [
      { input: '', brief: `the study: ${FULL.toLocaleString('en-GB')} sessions an arm` },
      { input: '--quick', brief: `${QUICK.toLocaleString('en-GB')} of them` },
      { input: '--report study.html', brief: 'a page with charts besides' },
      { input: '--sessions 1000 --seed 7 --json', brief: 'others, for programs' },
    ],
  },
  parameters: {
    flags: {
      full: toggle(
        `Draw ${FULL.toLocaleString('en-GB')} sessions for each arm, as the study did (the default)`,
      ),
      quick: toggle(`Draw ${QUICK.toLocaleString('en-GB')}`),
      sessions: number('Draw so many'),
      seed: number(`Where the drawing begins (default ${SEED}, the study's)`),
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
      const { reportTarget, writeReport } = await import('../../study/page.ts')
      // Before the work: a file that cannot be written is known at once.
      if (path !== undefined) reportTarget(path)
      const progress = ProgressLine.on(this)
      const { shipped } = await import('../../study/shipped.ts')
      const { analyse, runStudy } = await import('../../study/study.ts')
      const { describeStudy } = await import('../../print/study.ts')
      const draw = (what: string) => (drawn: number, total: number) =>
        progress?.draw(() => `${bar(drawn / total)}  ${what}`)
      const study = await runStudy({
        sessions,
        seed,
        measurement: shipped,
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
