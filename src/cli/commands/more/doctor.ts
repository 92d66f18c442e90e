import type { Check, Counts, Diagnosis } from '../../../library.ts'
import { plural } from '../../print/terminal/text.ts'
import { buildCommand } from '@stricli/core'
import type { Context } from '../../context/context.ts'
import { EXIT } from '../../context/errors.ts'
import { json, toggle } from '../../context/flags.ts'
import type { Output } from '../../context/output.ts'
import { withProject } from '../../context/with-project.ts'

interface Flags {
  readonly repair?: boolean
  readonly json?: boolean
}

export const doctor = buildCommand<Flags, [], Context>({
  docs: {
    brief: 'Check every journal, view and index against each other',
    fullDescription:
      'Reads everything and says what agrees and what does not. A log that lost one of its two names gets it back, and an index that is wrong is built anew; nothing is repaired by deleting. Exit code 1 when something needs a person.',
    customUsage: [
      { input: '', brief: 'look at everything' },
      {
        input: '--repair',
        brief: 'also render again what is behind, and clear half-written files away',
      },
    ],
  },
  parameters: {
    flags: {
      repair: toggle('Render views again and remove half-written files of killed processes'),
      json,
    },
  },
  async func(flags) {
    await withProject(this, flags, async (project, output) => {
      const diagnosis = await project.doctor({ repair: flags.repair === true })
      output.result(flags.json, diagnosis, () => describe(diagnosis, output))
      // The report is the answer; only the exit code is left to say that it is not a good one.
      if (!diagnosis.isHealthy) this.process.exitCode = EXIT.failure
    })
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
  { check, status, summary, details }: Check,
  output: Output,
): readonly string[] {
  const word = status.padEnd(7)
  const lines = details
    .filter((detail) => detail !== summary)
    .map((detail) => `           ${detail}`)
  return [
    `${status === 'problem' ? output.bold(word) : word}  ${check.padEnd(14)}  ${summary}`,
    ...lines,
  ]
}

function describeCounts({
  sessions,
  entries,
  tasks,
  damagedLines,
  grewMeanwhile,
}: Counts): readonly string[] {
  return [
    row('sessions', {
      logs: sessions.logs,
      links: sessions.links,
      index: sessions.index,
      documents: sessions.documents,
    }),
    row('entries', { read: entries.read, indexed: entries.indexed }),
    row('tasks', { backlog: tasks.backlog, files: tasks.files }),
    row('damaged', { lines: damagedLines }),
    ...(grewMeanwhile === 0 ? [] : [row('written to', { 'logs meanwhile': grewMeanwhile })]),
  ]
}

function row(name: string, values: Readonly<Record<string, number>>): string {
  const cells = Object.entries(values).map(
    ([label, value]) => `${String(value).padStart(7)} ${label}`,
  )
  return `${name.padEnd(10)}${cells.map((cell) => cell.padEnd(18)).join('')}`.trimEnd()
}
