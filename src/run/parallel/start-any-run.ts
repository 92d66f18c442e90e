import { StintError } from '../../journal/errors.ts'
import { shortId } from '../../journal/ids.ts'
import { refuseInRun } from '../../project/store/in-run.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import type { RunEvent } from '../events.ts'
import { findRun } from '../run-log.ts'
import { lastResumable, stateOf } from '../runs.ts'
import { type RunHandle, type StartOptions, startRun } from '../loop/start-run.ts'
import { startParallelRun } from './start-parallel.ts'

/** Begins a run, or goes on with one, whether it works on one task at a time or on several. */
export async function startAnyRun(
  workspace: Workspace,
  options: StartOptions,
  tell: (event: RunEvent) => void,
): Promise<RunHandle> {
  refuseInRun(workspace, 'beginning a run')
  const { parallel, resume } = options
  if (resume === undefined)
    return parallel === undefined
      ? startRun(workspace, options, tell)
      : startParallelRun(workspace, options, tell)
  const run = resume === true ? lastResumable(workspace) : findRun(workspace.place, resume)
  const { started } = stateOf(workspace, run)
  if (started.delegate !== undefined) {
    const { name } = started.delegate
    throw new StintError(
      'IS_DELEGATE',
      `${shortId(run)} is the delegate ${name}, and no run`,
      `stint delegate retry ${name}`,
    )
  }
  if (started.options.parallel !== undefined)
    return startParallelRun(workspace, { ...options, resume: run }, tell)
  if (parallel === undefined) return startRun(workspace, { ...options, resume: run }, tell)
  throw new StintError(
    'NOT_PARALLEL',
    `run ${shortId(run)} works on one task at a time, and has begun so`,
    `stint run --resume ${shortId(run)} goes on with it; stint run --parallel ${parallel} begins another`,
  )
}
