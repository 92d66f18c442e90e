import type { TaskStatus } from '../../../session/entries.ts'
import { type Verdict, couldNotBeChecked, unverified, verified } from './claim.ts'

/** Whether the backlog says of a task what the session's journal says. */
export function probeTask(claimed: TaskStatus, inBacklog: TaskStatus | undefined): Verdict {
  if (inBacklog === undefined) return couldNotBeChecked('the backlog here does not have it')
  return inBacklog === claimed ? verified('backlog') : unverified(`the backlog says ${inBacklog}`)
}
