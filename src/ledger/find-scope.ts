import { allDelegates } from '../run/delegate/delegates.ts'
import { StintError } from '../journal/errors.ts'
import { NoSession, findSession } from '../project/store/choose.ts'
import { runIds } from '../project/store/run-files.ts'
import type { Workspace } from '../project/store/workspace.ts'
import { findRun } from '../run/run-log.ts'
import { foldBacklog } from '../backlog/backlog.ts'
import { findTask, matchTasks } from '../backlog/task.ts'
import { gather } from './gather.ts'
import type { LedgerRequest } from './ledger.ts'

/** In this order: a session often has the name of its task. */
export async function findScope(
  workspace: Workspace,
  name: string,
): Promise<Pick<LedgerRequest, 'session' | 'task' | 'run'>> {
  const session = await sessionCalled(workspace, name)
  const tasks = workspace.hasSessions()
    ? foldBacklog([...(await workspace.index()).taskEntries()]).tasks
    : []
  const [task] = matchTasks(tasks, name)
  if (session !== undefined) {
    if (task !== undefined && task.id !== name)
      workspace.say(`there is a task of that name as well: stint ledger ${task.id}`)
    return { session }
  }
  if (task !== undefined) return { task: findTask(tasks, name).id }
  const delegate = allDelegates(workspace.place).find(({ order }) => order.name === name)
  if (delegate !== undefined) return { run: delegate.id }
  if (runIds(workspace.place).some((id) => id.includes(name)))
    return { run: findRun(workspace.place, name) }
  const elsewhere = await keptElsewhere(workspace, name)
  if (elsewhere !== undefined) return { task: elsewhere }
  const hint = 'stint ledger --by task, or run, lists them'
  throw new StintError('NOTHING_CALLED_SO', `there is no session, task or run "${name}"`, hint)
}

/** A task of another backlog, known by its linked sessions and runs. */
async function keptElsewhere(workspace: Workspace, name: string) {
  const { sessions, runs } = await gather(workspace)
  if (sessions.some(({ row }) => row.tasks.includes(name))) return name
  const tasks = runs.flatMap(({ parts }) => parts).flatMap(({ task }) => task ?? [])
  return tasks.find((task) => task.id === name || task.name === name)?.id
}

async function sessionCalled(workspace: Workspace, name: string) {
  try {
    return (await findSession(workspace, name)).id
  } catch (error) {
    if (error instanceof NoSession) return undefined
    throw error
  }
}
