import { buildCommand } from '@stricli/core'
import type { Context } from '../../context/context.ts'
import { json, optionalName } from '../../context/flags.ts'
import { withRuns } from '../../context/with-project.ts'

export const runs = buildCommand<{ json?: boolean }, [string?], Context>({
  docs: {
    brief: 'List the runs, or show the report of one',
    fullDescription:
      'A report says for each task, session and the whole run: tokens, cost, time, attempts and commit; what one conversation per task would\nhave come to; what is not done and why; and how to merge it or go on.',
    customUsage: [
      { input: '', brief: 'which there were, the latest first' },
      { input: '3f9c1a', brief: 'the report of one' },
      { input: '3f9c1a --json', brief: 'for programs' },
    ],
  },
  parameters: {
    positional: optionalName('The run, by its id or any unique part of it', 'RUN'),
    flags: { json },
  },
  async func(flags, run) {
    await withRuns(this, flags, async (project, output) => {
      const { describeReport, describeRuns } = await import('../../print/run/report.ts')
      if (run === undefined) {
        const rows = await project.runs.list()
        output.result(flags.json, rows, () => describeRuns(rows, output))
        return
      }
      const report = await project.runs.report(run)
      output.result(flags.json, report, () => describeReport(report, output))
    })
  },
})
