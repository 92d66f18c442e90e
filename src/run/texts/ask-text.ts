import { doneCommand, notDoneCommands } from './reporting.ts'
import { type PromptTask, nameOf, taskHead } from './task-head.ts'

/** Asked once when a turn ended without a report. */
export function askText(task: Pick<PromptTask, 'shortname' | 'title'>): string {
  const name = nameOf(task)
  return `${taskHead(task)}

The turn ended without a report. Finish what is left, verify and commit it, then report ${doneCommand(name)}. If it cannot be done: ${notDoneCommands(name)}. Then end the turn.`
}
