import type { Sensitivity, Study } from '../study/contract.ts'
import {
  type Table,
  amount,
  changesTable,
  complexityTable,
  failuresTable,
  figuresTable,
  matrixOf,
  measuredTable,
  measurementWords,
  paysTable,
  ratesTable,
  ratioFormWords,
  ratioTable,
  sensitivityTable,
  sharesTable,
  verdictWords,
} from '../study/tables.ts'
import type { Output } from '../context/output.ts'
import { table } from './terminal/layout.ts'

export function describeStudy(study: Study, sensitivity: Sensitivity, output: Output): string {
  const part = (title: string, content: Table, ...notes: readonly string[]) => [
    '',
    `   ${output.bold(title)}`,
    ...drawn(content),
    ...notes.map((note) => `   ${output.dim(note)}`),
  ]
  return [
    `📊 ${output.bold(`What keeping a session's state costs: ${amount(study.sessions)} sessions, seed ${study.seed}`)}`,
    '   none, session.json and plan once as the study assumes them, enhanced log from its matrix, stint as it was measured',
    ...part('A session on average', figuresTable(study)),
    ...part('Against none', changesTable(study)),
    ...part(
      'Failures',
      failuresTable(study),
      'Of stint: at the bound of what was measured, as if every session were killed once.',
    ),
    ...part('By complexity', complexityTable(study)),
    ...part(
      'Costs to benefits, as the study weighs them',
      ratioTable(study),
      ratioFormWords,
      verdictWords,
    ),
    ...part('Where its costs are', sharesTable(sensitivity)),
    ...part('The ratio with one assumption changed', sensitivityTable(sensitivity)),
    ...part('Interrupted so often, it pays for its tokens', paysTable(sensitivity)),
    ...part('Comparison', matrixOf(study)),
    ...part('Measured of Stint', ratesTable(study)),
    '',
    ...drawn(measuredTable(study)),
    ...measurementWords(study).map((line) => `   ${output.dim(line)}`),
  ].join('\n')
}

function drawn({ head, rows }: Table): readonly string[] {
  const figures = head.map((_, column) => column).slice(1)
  return table([head, ...rows], figures).map((text) => `   ${text}`)
}
