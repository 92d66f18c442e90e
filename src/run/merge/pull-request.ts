// A pull request in place of a merge: the branch is pushed as it is, and people decide.
import { StintError } from '../../journal/errors.ts'
import { runGit } from '../../git/run-git.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { type Program, runForJson, runProgram } from '../sources/run-program.ts'
import { RunLog } from '../run-log.ts'
import { isRecord } from '../../backlog/task.ts'
import { cleanText, oneLine, shorten } from '../../text/clean.ts'
import { withoutSecrets } from '../../project/store/clean-draft.ts'
import { type DelegateState, delegateNow } from '../delegate/delegates.ts'
import { readyAgain } from './finish.ts'
import { repositoryOf } from '../../project/store/worktrees.ts'
import { targetNow } from './target.ts'
import { type MergeContext, outcomeOf, refuseWhenStopped } from './outcomes.ts'
import type { MergeOutcome } from '../entries.ts'

const GH: Program = {
  command: 'gh',
  hint: 'install the GitHub CLI, then gh auth login, in a clone of a repository on GitHub',
}

/** Before anything is pushed: what a pull request needs is there. */
export async function refuseWithoutGitHub(
  workspace: Workspace,
  ids: readonly string[],
): Promise<void> {
  try {
    await runProgram(GH, ['--version'], surroundings(workspace))
  } catch (error) {
    if (!(error instanceof StintError) || error.code !== 'PROGRAM_MISSING') throw error
    throw new StintError(
      'GH_MISSING',
      'a pull request is opened by the program gh, which is not there',
      GH.hint,
      {
        cause: error,
      },
    )
  }
  for (const id of ids) remoteFor(workspace, delegateNow(workspace.place, id).order.target)
}

export async function openPullRequest(
  context: MergeContext,
  state: DelegateState,
  tip: string,
): Promise<MergeOutcome> {
  const { workspace } = context
  const { branch } = state.run.started
  const { target } = state.order
  const { remote, base } = remoteFor(workspace, target)
  refuseWhenStopped(context)
  // With the user's hooks: what a large file of theirs needs to be pushed is one of them.
  const source = targetNow(workspace.place, branch) === tip ? `refs/heads/${branch}` : tip
  runGit(repositoryOf(workspace.place).commonDir, [
    'push',
    '--quiet',
    '--set-upstream',
    remote,
    `${source}:refs/heads/${branch}`,
  ])
  const pr = (await existing(workspace, branch)) ?? (await create(workspace, state, base))
  const log = new RunLog(workspace.place, state.id, workspace.config)
  try {
    readyAgain(workspace.place, log, state, { because: 'a pull request is open', commit: tip, pr })
  } finally {
    log.close()
  }
  return { ...outcomeOf(state, 'pull request'), commit: tip, pr }
}

/** Where the target comes from, and what it is called there. */
function remoteFor(
  { place }: Workspace,
  target: string,
): { readonly remote: string; readonly base: string } {
  const { commonDir } = repositoryOf(place)
  const setting = (name: string) =>
    runGit(commonDir, ['config', '--default', '', '--get', `branch.${target}.${name}`]).trim()
  const remotes = runGit(commonDir, ['remote'])
    .split('\n')
    .filter((name) => name !== '')
  const upstream = setting('remote')
  if (remotes.includes(upstream))
    return { remote: upstream, base: setting('merge').replace(/^refs\/heads\//, '') || target }
  if (remotes.includes('origin')) return { remote: 'origin', base: target }
  if (remotes.length === 1) return { remote: remotes[0]!, base: target }
  const problem =
    remotes.length === 0
      ? 'this repository has no remote'
      : `it is not known to which of ${remotes.join(', ')} to push`
  throw new StintError(
    'NO_REMOTE',
    `no pull request can be opened: ${problem}`,
    remotes.length === 0
      ? 'git remote add origin URL, or merge here without --pr'
      : `git branch --set-upstream-to REMOTE/BRANCH ${target}`,
  )
}

async function existing(workspace: Workspace, branch: string): Promise<string | undefined> {
  try {
    const seen = await runForJson(
      GH,
      ['pr', 'view', branch, '--json', 'url,state'],
      surroundings(workspace),
    )
    return isRecord(seen) && seen['state'] === 'OPEN' && typeof seen['url'] === 'string'
      ? oneLine(seen['url'])
      : undefined
  } catch (error) {
    // There is none; if it is something else, opening one says so.
    if (error instanceof StintError) return undefined
    throw error
  }
}

async function create(
  workspace: Workspace,
  { order, ready, run }: DelegateState,
  base: string,
): Promise<string> {
  const clean = (text: string) => withoutSecrets(cleanText(text), workspace.config)
  const title = shorten(oneLine(clean(order.what)), 72)
  const body = [order.what, ready?.summary]
    .flatMap((text) => (text === undefined ? [] : [clean(text)]))
    .join('\n\n')
  const args = [
    'pr',
    'create',
    '--head',
    run.started.branch,
    '--base',
    base,
    '--title',
    title,
    '--body-file',
    '-',
  ]
  const printed = await runProgram(GH, args, { ...surroundings(workspace), input: `${body}\n` })
  // Its address is the last thing that it prints.
  return oneLine(printed.trim().split('\n').at(-1) ?? '')
}

function surroundings({ place, env }: Workspace) {
  return { cwd: place.root, env: { ...env, GH_PROMPT_DISABLED: '1', NO_COLOR: '1' } }
}
