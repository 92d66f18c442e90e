import type { Project, RunReport, StartOptions } from '../../../library.ts'
import { buildCommand } from '@stricli/core'
import type { Context } from '../../context/context.ts'
import { Misuse } from '../../context/errors.ts'
import { toggle } from '../../context/flags.ts'
import type { Output } from '../../context/output.ts'
import { RUN_FLAGS, type RunFlags, runOptions } from '../../context/run-flags.ts'
import { type SayBy, withRuns } from '../../context/with-project.ts'

export const run = buildCommand<RunFlags, [], Context>({
  docs: {
    brief: 'Work a backlog through, in as few conversations as is cheapest',
    fullDescription:
      'Takes the tasks in the order of their dependencies and priorities and gives them to an agent, one after another in one conversation until a fresh one\nis cheaper or safer. A task is done when its work is committed and the verify command is green, whatever the agent says. Works on a branch and in\na worktree of its own. With --parallel several tasks that have nothing to do with each other are worked on at once, each merged when it is proved.\nCtrl-C lets what is begun be finished, a second one stops now; stint run --resume goes on.\nExit codes: 0 all done, 1 something failed, is blocked, waits or is left over, 130 interrupted.',
    customUsage: [
      { input: '', brief: 'everything that is open in .tasks' },
      { input: '--dry-run', brief: 'what it would do, without doing it' },
      { input: '--task fix-login --verify "npm test"', brief: 'one task and what it depends on' },
      { input: '--label bug --max-tasks 5 --budget-usd 3', brief: 'some tasks, within bounds' },
      {
        input: '--backlog TODO.md --harness codex --model gpt-5.3-codex',
        brief: 'another backlog, another agent',
      },
      { input: '--harness "acp:gemini --experimental-acp"', brief: 'any agent that speaks ACP' },
      {
        input: '--parallel 3 --budget-usd 10',
        brief: 'three tasks at once, each on a branch of its own',
      },
      { input: '--harness rehearsal --once', brief: 'rehearse it, without a model' },
      { input: '--resume', brief: 'go on with the last run' },
      { input: '--json > events.jsonl', brief: 'each event as a line of JSON' },
    ],
  },
  parameters: { flags: { ...RUN_FLAGS, json: toggle('Print each event as a line of JSON') } },
  async func(flags) {
    const work = async (project: Project, output: Output, sayBy: SayBy) => {
      const options = runOptions(flags)
      const canAsk = this.canAsk && flags.json !== true
      if (options.permissions === 'ask' && !canAsk) {
        throw new Misuse(
          '--permissions ask needs a terminal to ask on',
          'use --permissions edits, or a terminal and no --json',
        )
      }
      if (flags.dryRun === true) {
        const { describePlan } = await import('../../print/run/report.ts')
        const plan = await project.runs.plan(options)
        output.result(flags.json, plan, () => [describePlan(plan, output), '', REHEARSE].join('\n'))
        return
      }
      const report = await started(this, flags, project, options, sayBy)
      const { describeReport } = await import('../../print/run/report.ts')
      const { exitCodeOfRun } = await import('../../print/run/show-run.ts')
      // For programs the last of the events has the report in it.
      if (flags.json !== true) output.line(describeReport(report, output))
      this.process.exitCode = exitCodeOfRun(report)
    }
    await withRuns(this, flags, work, { isLines: true })
  },
})

async function started(
  context: Context,
  flags: RunFlags,
  project: Project,
  options: StartOptions,
  sayBy: SayBy,
): Promise<RunReport> {
  const { showRun } = await import('../../print/run/show-run.ts')
  // A run that may do what it does without being asked never waits for a person who has gone.
  const mayAsk = context.canAsk && flags.json !== true && (options.permissions ?? 'ask') === 'ask'
  return showRun(
    context,
    flags,
    (tell, decide) => project.runs.start({ ...options, ...(mayAsk ? { decide } : {}) }, tell),
    {
      sayBy,
      secrets: await project.redaction(),
    },
  )
}

const REHEARSE =
  'Nothing was started. The rehearsal harness would work it without a model:\n   stint run --harness rehearsal'
