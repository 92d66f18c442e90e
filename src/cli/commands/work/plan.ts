import { buildCommand } from '@stricli/core'
import type { Context } from '../../context/context.ts'
import { json } from '../../context/flags.ts'
import { PLAN_FLAGS, type PlanFlags, planOptions } from '../../context/run-flags.ts'
import { withRuns } from '../../context/with-project.ts'

export const plan = buildCommand<PlanFlags, [], Context>({
  docs: {
    brief: 'Show what a run would do, and why',
    fullDescription:
      'The tasks in their order, the conversations they would be worked in, why each begins where it does, and what they would take: tokens, time and\ncost, forecast from the finished tasks of this project, or from a table while there are few. Starts nothing.',
    customUsage: [
      { input: '', brief: 'everything that is open in .tasks' },
      { input: '--label bug --batch one', brief: 'some tasks, each in a conversation of its own' },
      { input: '--backlog TODO.md --harness codex', brief: 'another backlog, another agent' },
      {
        input: '--parallel 3',
        brief: 'which tasks would be worked on at once, and which wait for what',
      },
      { input: '--json', brief: 'for programs' },
    ],
  },
  parameters: { flags: { ...PLAN_FLAGS, json } },
  async func(flags) {
    await withRuns(this, flags, async ({ runs }, output) => {
      const options = planOptions(flags)
      const { describePlan } = await import('../../print/run/report.ts')
      const planned = await runs.plan(options)
      output.result(flags.json, planned, () => describePlan(planned, output))
    })
  },
})
