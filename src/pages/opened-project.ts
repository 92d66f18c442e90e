import type { Project } from '../project/open-project.ts'
import type { Workspace } from '../project/store/workspace.ts'
import type { Delegates, Runs } from '../run/control/runs-of-project.ts'
import type { Conversations } from './conversations.ts'

export interface OpenedProject {
  /** An opaque name of the project on this machine. */
  readonly key: string
  readonly workspace: Workspace
  readonly project: Project
  readonly runs: Runs
  readonly delegates: Delegates
  readonly conversations: Conversations
}
