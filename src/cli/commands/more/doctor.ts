import type { DoctorCheck, DoctorCounts, Diagnosis } from '../../../library.ts'
import { EXIT, type Output } from '../../context/context.ts'
import { toggle } from '../../context/flags.ts'
import { defineProjectCommand } from '../../context/command.ts'
import { plural } from '../../print/terminal/text.ts'

export const doctor = defineProjectCommand({
  brief: 'Check every journal, view and index against each other',
  about:
    'Reads everything and says what agrees and what does not. A log that lost one of its two names gets it back, and an index that is wrong is built anew; no journal is repaired by deleting. Exit code 1 when something needs a person.',
  usage: [
    ['', 'look at everything'],
    [
      '--repair',
      'also render again what is behind, record how orphaned delegates ended, and clear half-written files and broken references away',
    ],
  ],
  flags: {
    repair: toggle(
      'Render views again, reconcile orphaned delegates, and remove half-written files and broken references',
    ),
  },
  async run({ project, output, print, exit }, { repair = false }) {
    const diagnosis = await project.doctor({ repair })
    print(diagnosis, () => describe(diagnosis, output))
    // The report is the result, so only the exit code signals a problem.
    if (!diagnosis.isHealthy) exit(EXIT.failure)
  },
})

function describe({ checks, counts, isHealthy }: Diagnosis, output: Output): string {
  const problems = checks.filter(({ status }) => status === 'problem').length
  const verdict = isHealthy
    ? 'Healthy.'
    : `${plural(problems, 'problem')} that a person has to look at.`
  return [
    ...checks.flatMap((check) => describeCheck(check, output)),
    '',
    ...describeCounts(counts),
    '',
    output.bold(verdict),
  ].join('\n')
}

function describeCheck(
  { check, status, summary, details }: DoctorCheck,
  output: Output,
): readonly string[] {
  const label = status.padEnd(7)
  return [
    `${status === 'problem' ? output.bold(label) : label}  ${check.padEnd(14)}  ${summary}`,
    ...details.filter((detail) => detail !== summary).map((detail) => `           ${detail}`),
  ]
}

function describeCounts(counts: DoctorCounts): readonly string[] {
  const { damagedLines, grewMeanwhile } = counts
  const { logs, links, index, documents } = counts.sessions
  const { read, indexed } = counts.entries
  const { backlog, files } = counts.tasks
  return [
    countsLine('sessions', { logs, links, index, documents }),
    countsLine('entries', { read, indexed }),
    countsLine('tasks', { backlog, files }),
    countsLine('damaged', { lines: damagedLines }),
    ...(grewMeanwhile === 0 ? [] : [countsLine('written to', { 'logs meanwhile': grewMeanwhile })]),
  ]
}

function countsLine(name: string, values: Readonly<Record<string, number>>): string {
  const cells = Object.entries(values).map(
    ([label, value]) => `${String(value).padStart(7)} ${label}`,
  )
  return `${name.padEnd(10)}${cells.map((cell) => cell.padEnd(18)).join('')}`.trimEnd()
}
