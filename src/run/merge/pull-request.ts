import { isRecord } from '../../backlog/task.ts'
import { runGit, writeGit } from '../../git/run-git.ts'
import { StintError } from '../../journal/errors.ts'
import { withoutSecrets } from '../../project/store/clean-draft.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { requireRepository } from '../../project/store/worktrees.ts'
import { cleanText, oneLine, shorten } from '../../text/clean.ts'
import { type DelegateState, readDelegate, withRunLog } from '../delegate/delegates.ts'
import type { MergeOutcome } from '../entries.ts'
import { GH, ghEnvironment, runExternalProgram, runForJson } from '../sources/run-program.ts'
import { recordReadyAgain } from './finish-merge.ts'
import { type MergeContext, refuseWhenStopped, toMergeOutcome } from './merge-context.ts'
import { targetTip } from './target-branch.ts'

export async function refuseWithoutGitHub(
  workspace: Workspace,
  ids: readonly string[],
): Promise<void> {
  try {
    await runExternalProgram(GH, ['--version'], ghEnvironment(workspace))
  } catch (cause) {
    if (!(cause instanceof StintError) || cause.code !== 'PROGRAM_MISSING') throw cause
    const what = 'a pull request is opened by the program gh, which is not there'
    throw new StintError('GH_MISSING', what, GH.hint, { cause })
  }
  for (const id of ids) remoteFor(workspace, readDelegate(workspace.paths, id).order.target)
}

export async function openPullRequest(
  context: MergeContext,
  state: DelegateState,
  tip: string,
): Promise<MergeOutcome> {
  const { workspace } = context
  const { paths } = workspace
  const { branch } = state.run.started
  const { remote, base } = remoteFor(workspace, state.order.target)
  refuseWhenStopped(context)
  const source = targetTip(paths, branch) === tip ? `refs/heads/${branch}` : tip
  const push = ['push', '--quiet', '--set-upstream', remote, `${source}:refs/heads/${branch}`]
  // With the user's hooks, which git-lfs needs to push large files.
  writeGit(requireRepository(paths), push, { hasHooks: true })
  const pr = (await existing(workspace, branch)) ?? (await create(workspace, state, base))
  const move = { because: 'a pull request is open', commit: tip, pr }
  await withRunLog(workspace, state.id, (log) => recordReadyAgain(paths, log, state, move))
  return { ...toMergeOutcome(state, 'pull request'), commit: tip, pr }
}

function remoteFor({ paths }: Workspace, target: string) {
  const repository = requireRepository(paths)
  const setting = (name: string) =>
    runGit(repository, ['config', '--default', '', '--get', `branch.${target}.${name}`]).trim()
  const remotes = runGit(repository, ['remote'])
    .split('\n')
    .filter((name) => name !== '')
  const upstream = setting('remote')
  if (remotes.includes(upstream))
    return { remote: upstream, base: setting('merge').replace(/^refs\/heads\//, '') || target }
  if (remotes.includes('origin')) return { remote: 'origin', base: target }
  if (remotes.length === 1) return { remote: remotes[0]!, base: target }
  const [problem, hint] =
    remotes.length === 0
      ? ['this repository has no remote', 'git remote add origin URL, or merge here without --pr']
      : [
          `it is not known to which of ${remotes.join(', ')} to push`,
          `git branch --set-upstream-to REMOTE/BRANCH ${target}`,
        ]
  throw new StintError('NO_REMOTE', `no pull request can be opened: ${problem}`, hint)
}

async function existing(workspace: Workspace, branch: string) {
  try {
    const view = ['pr', 'view', branch, '--json', 'url,state']
    const seen = await runForJson(GH, view, ghEnvironment(workspace))
    return isRecord(seen) && seen['state'] === 'OPEN' && typeof seen['url'] === 'string'
      ? oneLine(seen['url'])
      : undefined
  } catch (error) {
    // There is none. Any other failure shows up again when one is opened.
    if (error instanceof StintError) return undefined
    throw error
  }
}

async function create(workspace: Workspace, { order, ready, run }: DelegateState, base: string) {
  const clean = (text: string) => withoutSecrets(cleanText(text), workspace.config)
  const title = shorten(oneLine(clean(order.what)), 72)
  const body = [order.what, ready?.summary].filter((text) => text !== undefined).map(clean)
  const about = ['--head', run.started.branch, '--base', base, '--title', title]
  const printed = await runExternalProgram(GH, ['pr', 'create', ...about, '--body-file', '-'], {
    ...ghEnvironment(workspace),
    input: `${body.join('\n\n')}\n`,
  })
  // The last line it prints is the URL.
  return oneLine(printed.trim().split('\n').at(-1) ?? '')
}
