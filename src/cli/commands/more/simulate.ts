import { relative, resolve } from 'node:path'
import { defined } from '../../../text/defined.ts'
import { defineCommand } from '../../context/command.ts'
import { UsageError } from '../../context/context.ts'
import { numberFlag, textFlag, toggle } from '../../context/flags.ts'
import { ProgressLine, progressBar } from '../../print/terminal/progress-line.ts'

const FULL_SESSIONS = 100_000
const QUICK_SESSIONS = 10_000
const MAX_SESSIONS = 10_000_000
const DEFAULT_SEED = 42
const formatCount = (count: number) => count.toLocaleString('en-GB')

export const simulate = defineCommand({
  brief: "Show what keeping a session's state costs, simulated and measured",
  about: [
    'Draws the sessions of a published study of session.json again, with its parameters and its seed, and puts beside them what was',
    'measured of Stint by killing it, by writing at once, by cutting writes short and by working through sessions.',
  ].join('\n'),
  usage: [
    ['', `the study: ${formatCount(FULL_SESSIONS)} sessions an arm`],
    ['--quick', `${formatCount(QUICK_SESSIONS)} of them`],
    ['--report study.html', 'a page with charts besides'],
    ['--sessions 1000 --seed 7 --json', 'others, for programs'],
  ],
  flags: {
    full: toggle(
      `Draw ${formatCount(FULL_SESSIONS)} sessions for each arm, as the study did (the default)`,
    ),
    quick: toggle(`Draw ${formatCount(QUICK_SESSIONS)}`),
    sessions: numberFlag('Draw so many'),
    seed: numberFlag(`Where the drawing begins (default ${DEFAULT_SEED}, the study's)`),
    report: textFlag('Write a page with charts, too', 'FILE'),
  },
  async run({ context, output, print, json }, { full, quick, seed = DEFAULT_SEED, ...flags }) {
    const sessions = flags.sessions ?? (quick ? QUICK_SESSIONS : FULL_SESSIONS)
    if ([full, quick, flags.sessions !== undefined].filter(Boolean).length > 1)
      throw new UsageError(
        '--full, --quick and --sessions each say how many sessions',
        'give one of them',
      )
    if (sessions < 1 || sessions > MAX_SESSIONS)
      throw new UsageError(
        `${sessions} sessions cannot be drawn`,
        `give --sessions a number from 1 to ${formatCount(MAX_SESSIONS)}`,
      )
    if (seed >= Number.MAX_SAFE_INTEGER)
      throw new UsageError(`${seed} is too large for a seed`, 'give --seed a number below 2^53')
    const path = flags.report === undefined ? undefined : resolve(context.cwd, flags.report)
    const { checkReportPath, writeReport } = await import('../../study/report-page.ts')
    // Checked first, so that an unwritable file fails before the work.
    if (path !== undefined) checkReportPath(path)
    const progressLine = ProgressLine.forContext(context)
    const { measuredRates: measurement } = await import('../../study/measured-rates.ts')
    const { analyseSensitivity, runStudy } = await import('../../study/study.ts')
    const { describeStudy } = await import('../../study/tables.ts')
    const showProgress = (label: string) => (drawn: number, total: number) =>
      progressLine?.draw(() => `${progressBar(drawn / total)}  ${label}`)
    const onProgress = showProgress('sessions drawn')
    const study = await runStudy({ sessions, seed, measurement, onProgress })
    const sensitivity = await analyseSensitivity(study, showProgress('assumptions changed'))
    progressLine?.clear()
    if (path !== undefined) writeReport(path, study, sensitivity)
    print({ ...study, sensitivity, ...defined({ report: path }) }, () =>
      describeStudy(study, sensitivity, output),
    )
    if (path !== undefined && !json) output.info(`the page is ${relative(context.cwd, path)}`)
  },
})
