import type { Task } from '../backlog/task.ts'
import type { Workspace } from '../project/store/workspace.ts'
import { isAgreedVerify } from '../project/trust/trust.ts'
import { publicTask } from '../public/projection.ts'
import type { PageTask } from './page-types.ts'

export function pageTask({ paths }: Workspace, task: Task): PageTask {
  const { verify } = task
  const isWaiting = verify !== undefined && !isAgreedVerify(paths, verify)
  return { ...publicTask(task), ...(isWaiting ? { needsTrust: true } : {}) }
}
