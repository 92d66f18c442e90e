// Running a backlog, planning a run, and reports of runs.
import { UsageError } from '../../context/context.ts'
import { optionalArgument } from '../../context/flags.ts'
import { PLAN_FLAGS, RUN_FLAGS, planOptions, runOptions } from '../../context/run-flags.ts'
import { defineRunCommand } from '../../context/command.ts'

export const run = defineRunCommand({
  brief: 'Work a backlog through, in as few conversations as is cheapest',
  about:
    'Takes the tasks in the order of their dependencies and priorities and gives them to an agent, one after another in one conversation until a fresh one\nis cheaper or safer. A task is done when its work is committed and the verify command is green, whatever the agent says. Works on a branch and in\na worktree of its own. With --parallel several tasks that have nothing to do with each other are worked on at once, each merged when it is proved.\nCtrl-C lets what is begun be finished, a second one stops now; stint run --resume goes on.\nExit codes: 0 all done, 1 something failed, is blocked, waits or is left over, 130 interrupted.',
  usage: [
    ['', 'everything that is open in .tasks'],
    ['--dry-run', 'what it would do, without doing it'],
    ['--task fix-login --verify "npm test"', 'one task and what it depends on'],
    ['--label bug --max-tasks 5 --budget-usd 3', 'some tasks, within bounds'],
    ['--backlog TODO.md --harness codex --model gpt-5.3-codex', 'another backlog, another agent'],
    ['--harness "acp:gemini --experimental-acp"', 'any agent that speaks ACP'],
    ['--parallel 3 --budget-usd 10', 'three tasks at once, each on a branch of its own'],
    ['--harness rehearsal --once', 'rehearse it, without a model'],
    ['--resume', 'go on with the last run'],
    ['--json > events.jsonl', 'each event as a line of JSON'],
  ],
  flags: RUN_FLAGS,
  json: 'Print each event as a line of JSON',
  isLines: true,
  async run({ project, context, output, print, exit, json, redirectMessages }, flags) {
    const options = runOptions(flags)
    const canAsk = context.canAsk && !json
    if (options.permissions === 'ask' && !canAsk) {
      throw new UsageError(
        '--permissions ask needs a terminal to ask on',
        'use --permissions edits, or a terminal and no --json',
      )
    }
    if (flags.dryRun) {
      const { describeRunPlan } = await import('../../print/run/report.ts')
      const runPlan = await project.runs.plan(options)
      return print(runPlan, () => [describeRunPlan(runPlan, output), '', REHEARSAL_HINT].join('\n'))
    }
    const { exitCodeOfRun, showRun } = await import('../../print/run/show-run.ts')
    // A run with permissions never asks, so that it never waits for an absent user.
    const mayAsk = canAsk && (options.permissions ?? 'ask') === 'ask'
    const report = await showRun(
      context,
      { json },
      (onEvent, decide) => project.runs.start({ ...options, ...(mayAsk && { decide }) }, onEvent),
      { redirectMessages, secrets: await project.redaction() },
    )
    const { describeRunReport } = await import('../../print/run/report.ts')
    // With --json the last event contains the report.
    if (!json) output.line(describeRunReport(report, output))
    exit(exitCodeOfRun(report))
  },
})

const REHEARSAL_HINT =
  'Nothing was started. The rehearsal harness would work it without a model:\n   stint run --harness rehearsal'

export const plan = defineRunCommand({
  brief: 'Show what a run would do, and why',
  about:
    'The tasks in their order, the conversations they would be worked in, why each begins where it does, and what they would take: tokens, time and\ncost, forecast from the finished tasks of this project, or from a table while there are few. Starts nothing.',
  usage: [
    ['', 'everything that is open in .tasks'],
    ['--label bug --batch one', 'some tasks, each in a conversation of its own'],
    ['--backlog TODO.md --harness codex', 'another backlog, another agent'],
    ['--parallel 3', 'which tasks would be worked on at once, and which wait for what'],
    ['--json', 'for programs'],
  ],
  flags: PLAN_FLAGS,
  async run({ project, output, print }, flags) {
    const options = planOptions(flags)
    const { describeRunPlan } = await import('../../print/run/report.ts')
    const runPlan = await project.runs.plan(options)
    print(runPlan, () => describeRunPlan(runPlan, output))
  },
})

export const runs = defineRunCommand({
  brief: 'List the runs, or show the report of one',
  about:
    'A report says for each task, session and the whole run: tokens, cost, time, attempts and commit; what one conversation per task would\nhave come to; what is not done and why; and how to merge it or go on.',
  usage: [
    ['', 'which there were, the latest first'],
    ['3f9c1a', 'the report of one'],
    ['3f9c1a --json', 'for programs'],
  ],
  args: [optionalArgument('The run, by its id or any unique part of it', 'RUN')],
  async run({ project, output, print }, _flags, id) {
    const { describeRunReport, describeRuns } = await import('../../print/run/report.ts')
    if (id === undefined) {
      const rows = await project.runs.list()
      return print(rows, () => describeRuns(rows, output))
    }
    const report = await project.runs.report(id)
    print(report, () => describeRunReport(report, output))
  },
})
