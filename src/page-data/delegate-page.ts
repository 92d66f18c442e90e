import { spawn } from 'node:child_process'
import type { Repository } from '../git/repository.ts'
import { gitInvocation } from '../git/run-git.ts'
import { withoutSecrets } from '../project/store/clean-draft.ts'
import { Workspace } from '../project/store/workspace.ts'
import { requireRepository } from '../project/store/worktrees.ts'
import { projectDelegates } from '../run/control/project-runs.ts'
import { findCommitRange, toDelegateRow } from '../run/delegate/delegate-row.ts'
import { findDelegate } from '../run/delegate/delegates.ts'
import { readRun } from '../run/run-log.ts'
import { defined } from '../text/defined.ts'
import type { DelegateActionResult, DelegatePage } from './page-types.ts'
import { type OpenedProject, notFoundError } from './project-pool.ts'

const MAX_DIFF_BYTES = 512 * 1024
const TIMEOUT_MS = 20_000
const FLAGS = ['--no-color', '--no-renames']

/** Empty when git fails. */
async function readDiff(
  repository: Repository,
  range: string,
): Promise<{ readonly diff: string; readonly isCut: boolean }> {
  const { program, args, cwd, env } = gitInvocation(repository, [
    'diff',
    ...FLAGS,
    '--end-of-options',
    range,
    '--',
  ])
  const git = spawn(program, args, {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: TIMEOUT_MS,
    windowsHide: true,
  })
  const chunks: Buffer[] = []
  let bytes = 0
  const ended = new Promise<void>((resolve) =>
    git.once('close', () => resolve()).once('error', () => resolve()),
  )
  git.stdout.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > MAX_DIFF_BYTES) git.kill()
  })
  await ended
  const all = Buffer.concat(chunks)
  if (all.length <= MAX_DIFF_BYTES) return { diff: all.toString('utf8'), isCut: false }
  const cut = all.subarray(0, MAX_DIFF_BYTES)
  return { diff: cut.subarray(0, cut.lastIndexOf(0x0a) + 1).toString('utf8'), isCut: true }
}

export async function delegatePage(
  { workspace }: OpenedProject,
  name: string,
): Promise<DelegatePage> {
  const { paths, config } = workspace
  const state = findDelegate(paths, name)
  const repository = requireRepository(paths)
  const range = findCommitRange(repository, state)
  const { diff, isCut } =
    range === undefined ? { diff: '', isCut: false } : await readDiff(repository, range)
  return {
    row: toDelegateRow(workspace, state),
    diff: withoutSecrets(diff, config),
    isDiffCut: isCut,
    moves: readRun(paths, state.id).flatMap((entry) => {
      const { at, kind } = entry
      if (kind === 'run.started' || kind === 'run.resumed') return [{ at, to: 'running' }]
      if (kind === 'merge.begun') return [{ at, to: 'merging' }]
      if (kind !== 'delegate.moved') return []
      const { because, to } = entry.data
      return [{ at, to, ...defined({ because }) }]
    }),
  }
}

export async function runDelegateAction(
  { workspace: opened }: OpenedProject,
  name: string,
  action: string,
  note: string | undefined,
  isStopped: AbortSignal,
): Promise<DelegateActionResult> {
  const ids = [findDelegate(opened.paths, name).id]
  // Reads the configuration anew: the user may have agreed to it, or changed it, meanwhile.
  const workspace = new Workspace(opened.cwd, {
    env: opened.env,
    say: (line) => opened.say(line),
  })
  try {
    const delegates = projectDelegates(workspace)
    if (action === 'merge') return (await delegates.merge(ids, { isStopped }))[0]!
    if (action === 'stop') return (await delegates.stop(ids))[0]!
    if (action === 'retry') return (await delegates.retry(ids, defined({ note })))[0]!
    if (action === 'discard') return (await delegates.discard(ids))[0]!
    throw notFoundError('such thing to do with a delegate')
  } finally {
    workspace.close()
  }
}
