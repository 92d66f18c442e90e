import { setTimeout as sleep } from 'node:timers/promises'
import { endStrays, isAlive } from '../../harness/process/strays.ts'
import type { ProcessMark } from '../../harness/contract/drive.ts'
import { StintError } from '../../journal/errors.ts'
import type { Place } from '../../project/store/place.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { endLeftovers } from '../loop/resume.ts'
import { readRun } from '../run-log.ts'
import { foldRun } from '../run-state.ts'
import type { DelegateState } from './delegate-state.ts'
import { delegateNow, isAttended } from './delegates.ts'
import { settleDead } from './settle-dead.ts'

/** To end its agent, commit what is there and say so. */
const GRACE_MS = 15_000
const LOOK_MS = 50

/** Ends a delegate and everything it started. Its work stays, on its branch. */
export async function stopDelegate(
  workspace: Workspace,
  { id, order }: DelegateState,
): Promise<DelegateState> {
  const state = await onceBegun(workspace.place, id)
  const { runner, ended } = state.run
  // By the process and not by what it is called: whoever called it failed may have been wrong.
  if (state.isBegun && ended === undefined && isAlive(runner)) {
    if (isOfRun(workspace.place, state)) {
      throw new StintError(
        'PART_OF_RUN',
        `${order.name} is a part of a run, in process ${runner.pid}`,
        'stop the run: Ctrl-C where it runs',
      )
    }
    await end(runner)
  }
  if (!isAttended(delegateNow(workspace.place, id)))
    await endLeftovers(delegateNow(workspace.place, id).run)
  return settleDead(workspace, delegateNow(workspace.place, id))
}

/** Whoever makes it has other things to do, and is not ended for it: its process is waited for. */
async function onceBegun(place: Place, id: string): Promise<DelegateState> {
  const isBeingMade = (state: DelegateState) => !state.isBegun && isAttended(state)
  for (const until = Date.now() + GRACE_MS; Date.now() < until; await sleep(LOOK_MS)) {
    const state = delegateNow(place, id)
    if (!isBeingMade(state) || isOfRun(place, state)) return state
  }
  const { order, run } = delegateNow(place, id)
  throw new StintError(
    'DELEGATE_BUSY',
    `${order.name} is just being begun by process ${run.runner.pid}`,
    `stint delegate stop ${order.name} in a moment`,
  )
}

/** A parallel run works on it in its own process, which has others to work on. */
function isOfRun(place: Place, { order, run }: DelegateState): boolean {
  const runner = order.run === undefined ? undefined : foldRun(readRun(place, order.run))?.runner
  return runner?.pid === run.runner.pid && runner.startedAt === run.runner.startedAt
}

async function end(runner: ProcessMark): Promise<void> {
  signal(runner.pid, 'SIGTERM')
  // One that was halted hears of it only when it goes on.
  signal(runner.pid, 'SIGCONT')
  if (await isGone(runner, GRACE_MS)) return
  signal(runner.pid, 'SIGKILL')
  await isGone(runner, GRACE_MS)
  if (runner.mark !== '') await endStrays(runner)
}

async function isGone(runner: ProcessMark, withinMs: number): Promise<boolean> {
  for (const until = Date.now() + withinMs; Date.now() < until; await sleep(LOOK_MS))
    if (!isAlive(runner)) return true
  return !isAlive(runner)
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It ended meanwhile.
  }
}
