// The study as one page that needs nothing else: no script, no request, light or dark as the reader has it.
import type { Arm, Costs, Sensitivity, Study } from '../contract.ts'
import {
  changesTable,
  complexityTable,
  failuresOf,
  failuresTable,
  figuresTable,
  matrixOf,
  measuredTable,
  paysTable,
  ratesTable,
  ratioTable,
  sensitivityTable,
  sharesTable,
} from '../tables.ts'
import {
  ARM_WORDS,
  amount,
  atLeast,
  atMost,
  measurementWords,
  percent,
  ratioFormWords,
  ratioWords,
  signedPercent,
  verdictWords,
} from '../words.ts'
import { VERDICTS, change } from '../ratio.ts'
import {
  type Bar,
  barChart,
  escape,
  legend,
  logChart,
  pointChart,
  stackChart,
  tableMarkup,
} from './charts.ts'
import { STYLES } from './styles.ts'
import { lstatSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { NotWritten, StintError, errnoOf } from '../../../journal/errors.ts'
import { replaceSource } from '../../../journal/files.ts'
import { statOrUndefined } from '../../../journal/look.ts'

/** How a page of ours begins. Only such a one is overwritten. */
export const REPORT_BEGINNING =
  '<!doctype html>\n<html lang="en">\n<!-- written by stint simulate -->\n'

const FAILURE_TONES = [
  { name: 'stale', tone: 'first' },
  { name: 'conflicts', tone: 'second' },
  { name: 'unreadable', tone: 'third' },
] as const

const COST_TONES = [
  { cost: 'writes', name: 'writes', tone: 'first' },
  { cost: 'tokens', name: 'tokens', tone: 'second' },
  { cost: 'cognitiveLoad', name: 'cognitive load', tone: 'third' },
  { cost: 'success', name: 'success lost', tone: 'fourth' },
] as const satisfies readonly { cost: keyof Costs; name: string; tone: string }[]

export function reportPage(study: Study, sensitivity: Sensitivity): string {
  const title = "What keeping a session's state costs"
  return `${REPORT_BEGINNING}<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escape(title)}</title>
<style>
${STYLES}
</style>
</head>
<body>
<main>
<h1>${escape(title)}</h1>
<p class="lead">${amount(study.sessions)} sessions for each of ${study.arms.length} ways, seed ${study.seed}. None, session.json and plan once are as a published study assumes them, the enhanced log is a column of its matrix, and Stint is as it was measured.</p>
<p>${escape(measurementWords(study)[0]!)}</p>
${tiles(study)}
<h2>A session on average</h2>
<div class="charts">
${figure(
  'Tokens a session',
  '',
  barChart(
    'Tokens a session',
    bars(
      study,
      ({ tokens }) => tokens,
      ({ figures }) => amount(figures.tokens),
    ),
  ),
)}
${figure(
  'Writes a session',
  'Files written, and of Stint records appended',
  barChart(
    'Writes a session',
    bars(
      study,
      ({ writes }) => writes,
      ({ figures }) => amount(figures.writes, 1),
    ),
  ),
)}
${figure('Success', 'Of Stint: at least', successChart(study))}
${figure('Failures', `Of ${amount(study.sessions)} sessions; of Stint: at most, as if every session were killed once`, failuresChart(study) + legend(FAILURE_TONES))}
</div>
${tableMarkup('A session on average', figuresTable(study))}
${tableMarkup('Against none', changesTable(study))}
${tableMarkup('Failures', failuresTable(study))}
${tableMarkup('By complexity', complexityTable(study))}
<h2>Costs to benefits, as the study weighs them</h2>
<p>${escape(ratioFormWords)} ${escape(verdictWords)}</p>
${tableMarkup('What each ratio is made of', ratioTable(study))}
<figure class="wide"><figcaption>Where the costs are<small>Each relative change weighs the same: one more file written as much as half again of the tokens</small></figcaption>
<div>${sharesChart(sensitivity)}${legend(COST_TONES)}</div>
${tableMarkup('Shares of the costs', sharesTable(sensitivity))}</figure>
<figure class="wide"><figcaption>The ratio with one assumption changed<small>Costs for each benefit, on a logarithmic scale. Right of the dashed line the study says: ${escape(VERDICTS[0].verdict)}</small></figcaption>
<div>${sensitivityChart(sensitivity)}${sensitivityLegend(sensitivity)}</div>
${tableMarkup('Ratios', sensitivityTable(sensitivity))}</figure>
${tableMarkup('Interrupted so often, it pays for its tokens', paysTable(sensitivity))}
<h2>Comparison</h2>
<div class="plain">${tableMarkup('The matrix of the study, redone', matrixOf(study))}</div>
<h2>What was measured of Stint</h2>
${measurementWords(study)
  .map((line) => `<p>${escape(line)}</p>`)
  .join('\n')}
<div class="plain">${tableMarkup('Rates', ratesTable(study))}
${tableMarkup('Sessions worked through', measuredTable(study))}</div>
</main>
</body>
</html>
`
}

/** What Stint comes to, for whoever reads no further. */
function tiles({ arms }: Study): string {
  const none = arms.find(({ name }) => name === 'none')!
  const stint = arms.find(({ name }) => name === 'stint')!
  const file = arms.find(({ name }) => name === 'session-json')!
  const said: readonly (readonly [string, string])[] = [
    [
      signedPercent(change(none.figures.tokens, stint.figures.tokens)),
      `tokens with Stint; session.json ${signedPercent(change(none.figures.tokens, file.figures.tokens))}`,
    ],
    [
      percent(stint.figures.traceability),
      `given back by Stint; session.json ${percent(file.figures.traceability)}`,
    ],
    [
      atLeast(stint, percent(stint.figures.success)),
      `success with Stint; none ${percent(none.figures.success)}, session.json ${percent(file.figures.success)}`,
    ],
    [
      atMost(stint, percent(failuresOf(stint.figures) / Math.max(1, stint.figures.sessions), 2)),
      `failures a session by Stint; session.json ${percent(failuresOf(file.figures) / Math.max(1, file.figures.sessions))}`,
    ],
  ]
  return `<ul class="tiles">${said.map(([figureSaid, words]) => `<li><b>${escape(figureSaid)}</b>${escape(words)}</li>`).join('')}</ul>`
}

function figure(title: string, note: string, content: string): string {
  const small = note === '' ? '' : `<small>${escape(note)}</small>`
  return `<figure><figcaption>${escape(title)}${small}</figcaption>${content}</figure>`
}

function bars(
  { arms }: Study,
  value: (figures: Arm['figures']) => number,
  said: (arm: Arm) => string,
): readonly Bar[] {
  return arms.map((arm) => ({
    label: ARM_WORDS[arm.name],
    value: value(arm.figures),
    said: said(arm),
    tone: arm.name,
  }))
}

function successChart(study: Study): string {
  const points = bars(
    study,
    ({ success }) => success,
    (arm) => atLeast(arm, percent(arm.figures.success)),
  )
  const values = points.map(({ value }) => value)
  const ends = [
    Math.floor(Math.min(...values) * 100) / 100,
    Math.ceil(Math.max(...values) * 100) / 100,
  ] as const
  return pointChart('Success', points, ends, (value) => percent(value, 0))
}

function failuresChart({ arms }: Study): string {
  return stackChart(
    'Failures',
    arms.map((arm) => ({
      label: ARM_WORDS[arm.name],
      said: atMost(arm, amount(failuresOf(arm.figures))),
      parts: FAILURE_TONES.map(({ name, tone }) => ({ name, tone, value: arm.figures[name] })),
    })),
  )
}

function sharesChart({ shares }: Sensitivity): string {
  return stackChart(
    'Shares of the costs',
    shares.map((arm) => ({
      label: ARM_WORDS[arm.name],
      said: `writes ${percent(arm.writes, 0)}`,
      parts: COST_TONES.map(({ cost, name, tone }) => ({ name, tone, value: arm[cost] })),
    })),
  )
}

function sensitivityChart({ rows }: Sensitivity): string {
  return logChart(
    'Ratios with one assumption changed',
    rows.map(({ what, arms }) => ({
      label: what,
      marks: arms.map(({ name, ratio }) => ({
        name: `${ARM_WORDS[name]} ${ratioWords(ratio)}`,
        value: ratio,
        tone: name,
      })),
    })),
    VERDICTS[0].above,
  )
}

function sensitivityLegend({ rows }: Sensitivity): string {
  return legend(
    rows[0]!.arms.map(({ name }) => ({ name: ARM_WORDS[name], tone: name })),
    true,
  )
}

/** Refuses a place where no report can be written, or where something else stands. */
export function reportTarget(path: string): void {
  const folder = statOrUndefined(dirname(path))
  if (folder?.isDirectory() !== true) {
    throw new StintError(
      'NO_FOLDER',
      `there is no folder ${dirname(path)}`,
      'create it first, or name a file elsewhere',
    )
  }
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return
  if (found.isDirectory())
    throw new StintError('REPORT_NO_FILE', `${path} is a folder`, 'name a file in it')
  if (!found.isFile() || !readFileSync(path, 'utf8').startsWith(REPORT_BEGINNING)) {
    throw new StintError(
      'REPORT_EXISTS',
      `${path} was not written by stint simulate`,
      'remove it, or name another file',
    )
  }
}

/** Puts the page into its file in one step. */
export function writeReport(path: string, study: Study, sensitivity: Sensitivity): void {
  reportTarget(path)
  try {
    replaceSource(path, reportPage(study, sensitivity))
  } catch (cause) {
    if (errnoOf(cause) === undefined) throw cause
    throw new NotWritten(path, cause)
  }
}
