import { handoffText } from './handoff-text.ts'
import { type Failure, failureText } from './retry-text.ts'
import { type PromptTask, taskHead } from './task-head.ts'
import { type TaskExtra, taskParts } from './task-text.ts'

export interface Handover {
  /** The document that the conversation before left, unless the set-up has given it. */
  readonly document?: string
  /** Why what that one did does not count. */
  readonly failure?: Failure
}

/** A task that another conversation began, in a fresh one: with all of its text, since this one has had nothing of it. */
export function continueText(
  task: PromptTask,
  { document, failure }: Handover,
  extra: TaskExtra = {},
): string {
  return [
    taskHead(task),
    ...taskParts(task, extra),
    ...(failure === undefined ? [] : [`${beginning(failure)} ${failureText(failure)}`]),
    ...(document === undefined ? [] : [handoffText(document)]),
    'This task was begun in an earlier conversation. Go on from where the work stands: look at `git log` and `git status` first, and keep what is right.',
  ].join('\n\n')
}

/** What is done and does not go in is not to be done once more. */
function beginning({ merge }: Failure): string {
  return merge === undefined
    ? 'An earlier conversation tried this task and did not finish it.'
    : 'An earlier conversation finished this task on this branch, but the work does not go in where it is meant for.'
}
