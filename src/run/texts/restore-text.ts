import { code } from '../../context/handoff/markdown.ts'
import { safeLine } from '../../text/safe-text.ts'
import { doneCommand, notDoneCommands } from './reporting.ts'
import { type PromptTask, nameOf } from './task-head.ts'
import { type TaskExtra, taskText } from './task-text.ts'

export interface Restored {
  /** The session as a model is given it, fenced and marked. */
  readonly context: string
  /** The verify command of the run. */
  readonly verify?: string
}

/** After a compaction in the middle of a task: the task again, the rules in short, and what the session knows. */
export function restoreText(
  task: PromptTask,
  { context, verify }: Restored,
  extra: TaskExtra = {},
): string {
  const name = nameOf(task)
  const run = verify === undefined ? 'verify it' : `run ${code(safeLine(verify))} until it passes`
  return [
    taskText(task, extra),
    `The conversation was compacted in the middle of this task. The rules hold as before: work in this folder only, commit on the current branch, never push, switch branches, rebase, amend or reset, leave \`.sessions/\` and \`.tasks/\` alone. Look at \`git status\` and \`git log\`, go on with the task, ${run}, commit, and report ${doneCommand(name)}. If it cannot be done: ${notDoneCommands(name)}. Then end the turn.`,
    context,
  ].join('\n\n')
}
