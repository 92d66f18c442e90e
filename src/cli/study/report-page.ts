// The study as one self-contained page: no script, no request, light or dark by the reader's setting.
import { lstatSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { NotWritten } from '../../library.ts'
import { StintError, errnoOf } from '../../public/projection.ts'
import { replaceProjectFile, statOrUndefined } from '../../core.ts'
import {
  type Bar,
  barChart,
  escapeHtml,
  legend,
  logChart,
  pointChart,
  stackChart,
} from './charts.ts'
import { type StudyArm, type Sensitivity, type Study, VERDICTS, relativeChange } from './study.ts'
import { STYLES } from './styles.ts'
import {
  type StudyTable,
  ARM_LABELS,
  COSTS,
  FAILURE_NAMES,
  formatNumber,
  atLeast,
  atMost,
  changesTable,
  complexityTable,
  failureShare,
  failuresOf,
  failuresTable,
  figuresTable,
  comparisonTable,
  measuredTable,
  measurementNotes,
  breakEvenTable,
  formatPercent,
  ratesTable,
  RATIO_FORMS_NOTE,
  ratioTable,
  formatRatio,
  sensitivityTable,
  sharesTable,
  signedPercent,
  VERDICTS_NOTE,
} from './tables.ts'

/** Only a file that starts with this is overwritten. */
const FILE_HEADER = '<!doctype html>\n<html lang="en">\n<!-- written by stint simulate -->\n'

const COLOUR_CLASSES = ['first', 'second', 'third', 'fourth'] as const
const FAILURE_CLASSES = FAILURE_NAMES.map((name, at) => ({ name, tone: COLOUR_CLASSES[at]! }))
const COST_CLASSES = COSTS.map((one, at) => ({ ...one, tone: COLOUR_CLASSES[at]! }))

export function reportPage(study: Study, sensitivity: Sensitivity): string {
  const title = "What keeping a session's state costs"
  const { arms } = study
  const bars = (
    value: (arm: StudyArm) => number,
    valueText: (arm: StudyArm) => string,
  ): readonly Bar[] =>
    arms.map((arm) => ({
      label: ARM_LABELS[arm.name],
      value: value(arm),
      valueText: valueText(arm),
      tone: arm.name,
    }))
  const success = bars(
    ({ figures }) => figures.success,
    (arm) => atLeast(arm, formatPercent(arm.figures.success)),
  )
  const values = success.map(({ value }) => value)
  const ends = [
    Math.floor(Math.min(...values) * 100) / 100,
    Math.ceil(Math.max(...values) * 100) / 100,
  ] as const
  const failures = arms.map((arm) => ({
    label: ARM_LABELS[arm.name],
    valueText: atMost(arm, formatNumber(failuresOf(arm))),
    parts: FAILURE_CLASSES.map((one) => ({ ...one, value: arm.figures[one.name] })),
  }))
  const shares = sensitivity.shares.map((arm) => ({
    label: ARM_LABELS[arm.name],
    valueText: `writes ${formatPercent(arm.writes, 0)}`,
    parts: COST_CLASSES.map((one) => ({ ...one, value: arm[one.cost] })),
  }))
  const ratios = sensitivity.rows.map((row) => ({
    label: row.what,
    marks: row.arms.map(({ name, ratio }) => ({
      name: `${ARM_LABELS[name]} ${formatRatio(ratio)}`,
      value: ratio,
      tone: name,
    })),
  }))
  const ratioLegend = sensitivity.rows[0]!.arms.map(({ name }) => ({
    name: ARM_LABELS[name],
    tone: name,
  }))
  return `${FILE_HEADER}<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escapeHtml(title)}</title>
<style>
${STYLES}
</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
<p class="lead">${formatNumber(study.sessions)} sessions for each of ${study.arms.length} ways, seed ${study.seed}. None, session.json and plan once are as a published study assumes them, the enhanced log is a column of its matrix, and Stint is as it was measured.</p>
<p>${escapeHtml(measurementNotes(study)[0]!)}</p>
${tilesMarkup(study)}
<h2>A session on average</h2>
<div class="charts">
${figureMarkup(
  'Tokens a session',
  '',
  barChart(
    'Tokens a session',
    bars(
      ({ figures }) => figures.tokens,
      ({ figures }) => formatNumber(figures.tokens),
    ),
  ),
)}
${figureMarkup(
  'Writes a session',
  'Files written, and of Stint records appended',
  barChart(
    'Writes a session',
    bars(
      ({ figures }) => figures.writes,
      ({ figures }) => formatNumber(figures.writes, 1),
    ),
  ),
)}
${figureMarkup(
  'Success',
  'Of Stint: at least',
  pointChart('Success', success, ends, (value) => formatPercent(value, 0)),
)}
${figureMarkup('Failures', `Of ${formatNumber(study.sessions)} sessions; of Stint: at most, as if every session were killed once`, stackChart('Failures', failures) + legend(FAILURE_CLASSES))}
</div>
${tableMarkup('A session on average', figuresTable(study))}
${tableMarkup('Against none', changesTable(study))}
${tableMarkup('Failures', failuresTable(study))}
${tableMarkup('By complexity', complexityTable(study))}
<h2>Costs to benefits, as the study weighs them</h2>
<p>${escapeHtml(RATIO_FORMS_NOTE)} ${escapeHtml(VERDICTS_NOTE)}</p>
${tableMarkup('What each ratio is made of', ratioTable(study))}
<figure class="wide"><figcaption>Where the costs are<small>Each relative change weighs the same: one more file written as much as half again of the tokens</small></figcaption>
<div>${stackChart('Shares of the costs', shares)}${legend(COST_CLASSES)}</div>
${tableMarkup('Shares of the costs', sharesTable(sensitivity))}</figure>
<figure class="wide"><figcaption>The ratio with one assumption changed<small>Costs for each benefit, on a logarithmic scale. Right of the dashed line the study says: ${escapeHtml(VERDICTS[0].verdict)}</small></figcaption>
<div>${logChart('Ratios with one assumption changed', ratios, VERDICTS[0].above)}${legend(ratioLegend, true)}</div>
${tableMarkup('Ratios', sensitivityTable(sensitivity))}</figure>
${tableMarkup('Interrupted so often, it pays for its tokens', breakEvenTable(sensitivity))}
<h2>Comparison</h2>
<div class="plain">${tableMarkup('The matrix of the study, redone', comparisonTable(study))}</div>
<h2>What was measured of Stint</h2>
${measurementNotes(study)
  .map((line) => `<p>${escapeHtml(line)}</p>`)
  .join('\n')}
<div class="plain">${tableMarkup('Rates', ratesTable(study))}
${tableMarkup('Sessions worked through', measuredTable(study))}</div>
</main>
</body>
</html>
`
}

function tilesMarkup({ arms }: Study) {
  const [none, stint, file] = (['none', 'stint', 'session-json'] as const).map((armName) =>
    arms.find(({ name }) => name === armName)!,
  ) as [StudyArm, StudyArm, StudyArm]
  const tokenChange = ({ figures }: StudyArm) =>
    signedPercent(relativeChange(none.figures.tokens, figures.tokens))
  const success = ({ figures }: StudyArm) => formatPercent(figures.success)
  const traceability = ({ figures }: StudyArm) => formatPercent(figures.traceability)
  const tiles = [
    [tokenChange(stint), `tokens with Stint; session.json ${tokenChange(file)}`],
    [traceability(stint), `given back by Stint; session.json ${traceability(file)}`],
    [
      atLeast(stint, success(stint)),
      `success with Stint; none ${success(none)}, session.json ${success(file)}`,
    ],
    [
      atMost(stint, formatPercent(failureShare(stint), 2)),
      `failures a session by Stint; session.json ${formatPercent(failureShare(file))}`,
    ],
  ] as const
  return `<ul class="tiles">${tiles.map(([value, words]) => `<li><b>${escapeHtml(value)}</b>${escapeHtml(words)}</li>`).join('')}</ul>`
}

function figureMarkup(title: string, note: string, content: string) {
  const small = note === '' ? '' : `<small>${escapeHtml(note)}</small>`
  return `<figure><figcaption>${escapeHtml(title)}${small}</figcaption>${content}</figure>`
}

function tableMarkup(caption: string, { head, rows }: StudyTable) {
  const [corner = '', ...columns] = head
  const first = corner === '' ? '<td></td>' : `<th scope="col">${escapeHtml(corner)}</th>`
  const body = rows.map(
    ([name = '', ...cells]) =>
      `<tr><th scope="row">${escapeHtml(name)}</th>${cells.map((cell) => `<td>${escapeHtml(cell)}</td>`).join('')}</tr>`,
  )
  return [
    `<div class="scrolled" role="region" tabindex="0" aria-label="${escapeHtml(caption)}">`,
    `<table><caption>${escapeHtml(caption)}</caption>`,
    `<thead><tr>${first}${columns.map((column) => `<th scope="col">${escapeHtml(column)}</th>`).join('')}</tr></thead>`,
    `<tbody>${body.join('\n')}</tbody></table></div>`,
  ].join('\n')
}

/** Refuses a path where no report can be written or another file exists. */
export function checkReportPath(path: string): void {
  const folder = statOrUndefined(dirname(path))
  if (folder?.isDirectory() !== true) {
    throw new StintError(
      'NO_FOLDER',
      `there is no folder ${dirname(path)}`,
      'create it first, or name a file elsewhere',
    )
  }
  const existing = lstatSync(path, { throwIfNoEntry: false })
  if (existing === undefined) return
  if (existing.isDirectory())
    throw new StintError('REPORT_NO_FILE', `${path} is a folder`, 'name a file in it')
  if (!existing.isFile() || !readFileSync(path, 'utf8').startsWith(FILE_HEADER)) {
    throw new StintError(
      'REPORT_EXISTS',
      `${path} was not written by stint simulate`,
      'remove it, or name another file',
    )
  }
}

export function writeReport(path: string, study: Study, sensitivity: Sensitivity): void {
  checkReportPath(path)
  try {
    replaceProjectFile(path, reportPage(study, sensitivity))
  } catch (cause) {
    if (errnoOf(cause) === undefined) throw cause
    throw new NotWritten(path, cause)
  }
}
