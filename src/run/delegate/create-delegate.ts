import { join, normalize } from 'node:path'
import { readSpecialist } from '../../backlog/specialist.ts'
import { type Task, findTask, isTaskOpen } from '../../backlog/task.ts'
import { GitFailed, runGit } from '../../git/run-git.ts'
import { DEFAULT_HARNESS } from '../../harness/registry.ts'
import { StintError } from '../../journal/errors.ts'
import {
  createFolder,
  removeEmptyFolder,
  removeFile,
  replaceFile,
} from '../../journal/write-files.ts'
import { mintId, shortId } from '../../journal/ids.ts'
import { AmbiguousSession, NoSession, chooseSession } from '../../project/store/choose-session.ts'
import { withoutSecrets } from '../../project/store/clean-draft.ts'
import { refuseInRun } from '../../project/store/run-environment.ts'
import { runFolder } from '../../project/store/run-files.ts'
import { refuseSettingsOfAgent, requireConsent } from '../../project/trust/trust.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { requireRepository, worktreesFolder } from '../../project/store/worktrees.ts'
import { cleanText, oneLine } from '../../text/clean.ts'
import { nameFrom } from '../../text/redact.ts'
import { defined } from '../../text/defined.ts'
import type { RunEntryData } from '../entries.ts'
import { requireHarness } from '../loop/make-run-context.ts'
import { thisProcess } from '../loop/start-run.ts'
import { resolveOptions } from '../options.ts'
import { findProfile, loadProfiles } from '../profiles/profile.ts'
import { RunLog } from '../run-log.ts'
import { openBacklogSource } from '../sources/open-backlog-source.ts'
import { abbreviateList } from '../worktree/remove-worktree.ts'
import {
  IGNORED_PATHS,
  branchTip,
  createRunTree,
  repositoryAt,
  requireHead,
  uncommittedPaths,
} from '../worktree/run-tree.ts'
import { REPORT_FILE, briefFor } from './brief.ts'
import type { DelegateRequest } from './delegate-row.ts'
import { delegateEnvironment, delegateWrap } from './delegate-context.ts'
import {
  CREATE_CLAIM,
  type DelegateState,
  hasLiveProcess,
  isOpenDelegate,
  readDelegate,
  readDelegates,
  withClaim,
} from './delegates.ts'
import { removeDelegateTree } from './delegate-commits.ts'
import { KnownPaths, type TouchedFiles, findOverlap, findTouchedFiles } from './overlap.ts'
import { changedFiles, reportStartToParent } from './parent-journal.ts'

interface ParallelRunPart {
  readonly run: string
  readonly target: string
  readonly backlog?: string
}

const READ_ONLY_ROLES: ReadonlySet<string> = new Set(['reviewer', 'research'])

/** Creates a delegate with its branch, worktree, log and task file, without starting it. Checks come before anything is created. */
export async function createDelegate(
  workspace: Workspace,
  request: DelegateRequest,
  part?: ParallelRunPart,
): Promise<DelegateState> {
  refuseInRun(workspace, 'delegating')
  const { paths, config } = workspace
  const { worktree } = requireRepository(paths)
  const { most } = config.delegates
  const others = readDelegates(paths)
  if (part === undefined) refuseTooMany(others, most)
  const task = await findOpenTask(workspace, request.task, others, part)
  if (part === undefined) refuseSettingsOfAgent(workspace, request)
  requireConsent(workspace, task === undefined ? [] : [task])
  const what = withoutSecrets(cleanText(request.what), config).trim() || task?.title || ''
  if (what === '')
    throw new StintError(
      'NEEDS_ORDER',
      'a delegate needs to be told what to do',
      'stint delegate "write tests for the parser"',
    )
  const as = requireProfile(workspace, request.as)
  const isReadOnly = READ_ONLY_ROLES.has(readSpecialist(request.as ?? '') ?? '')
  refuseSecretCommand(workspace, request.verify ?? '')
  const { harness = config.run.harness ?? DEFAULT_HARNESS } = request
  const { model, verify, budgetTokens, budgetUsd, maxMinutes, permissions, script } = request
  const limits = { verify, budgetTokens, budgetUsd, maxMinutes, permissions, script }
  const options = { harness, ...defined({ model, ...limits, backlog: part?.backlog }) }
  const id = mintId(undefined)
  const { from, target } = findStart(worktree, request.base, part)
  const parent = part === undefined ? await findParent(workspace, request.session) : undefined
  const ownFolder = part === undefined ? 'delegates' : `run-${shortId(part.run)}-parts`
  const folder = `stint/${parent?.name ?? ownFolder}`
  const nameAmong = (all: readonly DelegateState[]) =>
    freeName(paths.root, all, request.as ?? task?.shortname ?? what, folder)
  const treeName = `delegate-${shortId(id)}`
  // Fails here on a bad environment or agent, and not later in the background process.
  const tried = [
    nameAmong(others),
    join(worktreesFolder(paths), treeName),
    config.delegates,
  ] as const
  delegateEnvironment(...tried)
  await requireHarness(workspace, resolveOptions(workspace, options), id, delegateWrap(...tried))
  const output = checkOutputPath(request.output, isReadOnly)
  const files = (request.files ?? []).map((glob) => glob.trim()).filter((glob) => glob !== '')
  workspace.prepare()
  const state = await withClaim(paths, CREATE_CLAIM, async () => {
    // Others may have been created meanwhile.
    const now = readDelegates(paths)
    if (part === undefined) refuseTooMany(now, most)
    if (task !== undefined) refuseDelegated(task, now)
    const { name, slot } = nameAmong(now)
    const wanted = { what, name, files, isReadOnly, ...defined({ as, output, task }) }
    const { brief, file } = await briefFor(workspace, wanted, parent?.id)
    const tree = createRunTree(paths, id, `${folder}/${name}`, { name: treeName, from })
    const of = { group: request.group, task: task?.id, parent: parent?.id, run: part?.run }
    const order = { name, what, target, isReadOnly, files, slot, brief }
    const delegate = { ...order, ...defined({ as, ...of, output }) }
    const source = `delegate ${name}`
    writeDelegateFiles(workspace, id, { options, harness, source, ...tree, delegate }, file)
    return readDelegate(paths, id)
  })
  await reportStartToParent(workspace, state)
  if (part === undefined) {
    const dirty = uncommittedPaths(worktree)
    if (dirty.length > 0)
      workspace.say(`it does not have what is not committed here: ${abbreviateList(dirty, 3)}`)
    if (!isReadOnly) warnAboutOverlaps(workspace, { what, files, task }, others)
  }
  return state
}

/** If the log cannot be written, everything created for the delegate is removed again. */
function writeDelegateFiles(
  { paths, config }: Workspace,
  id: string,
  started: Omit<RunEntryData['run.started'], 'runner'>,
  file: string,
): void {
  const folder = runFolder(paths, id)
  const taskFile = join(folder, 'task.md')
  try {
    createFolder(folder)
    replaceFile(taskFile, file)
    RunLog.create(paths, id, config, { ...started, runner: thisProcess() }).close()
  } catch (error) {
    removeDelegateTree(paths, started, started.base)
    removeFile(taskFile)
    removeEmptyFolder(folder)
    throw error
  }
}

async function findOpenTask(
  workspace: Workspace,
  name: string | undefined,
  others: readonly DelegateState[],
  part: ParallelRunPart | undefined,
): Promise<Task | undefined> {
  if (name === undefined) return undefined
  const backlog = await (await openBacklogSource(workspace, part?.backlog)).read()
  const task = findTask(backlog.tasks, name)
  const { shortname } = task
  if (!isTaskOpen(task))
    throw new StintError(
      'TASK_DONE',
      `${shortname} is completed`,
      `stint task reopen ${shortname} opens it again`,
    )
  refuseDelegated(task, others)
  const open = [...task.dependsOn, ...task.children]
    .flatMap((id) => backlog.byId.get(id) ?? [])
    .filter(isTaskOpen)
    .map((one) => one.shortname)
  if (open.length > 0)
    throw new StintError(
      'TASK_WAITS',
      `${shortname} waits for ${open.join(', ')}`,
      `stint delegate --task ${open[0]} first`,
    )
  return task
}

function refuseDelegated(task: Task, others: readonly DelegateState[]): void {
  const holder = others.find((one) => one.order.task === task.id && isOpenDelegate(one))
  if (holder === undefined) return
  const { name: other } = holder.order
  throw new StintError(
    'TASK_DELEGATED',
    `${task.shortname} is with the delegate ${other}, which is ${holder.status}`,
    `stint delegate show ${other}; stint delegate retry ${other} or stint delegate discard ${other}`,
  )
}

function requireProfile({ paths }: Workspace, as: string | undefined): string | undefined {
  if (as === undefined) return undefined
  const { profiles } = loadProfiles(paths.repository?.worktree ?? paths.root, paths.root)
  const profile = findProfile(as, profiles)
  if (profile !== undefined) return profile.name
  throw new StintError(
    'NO_PROFILE',
    `there is no profile "${oneLine(as)}"`,
    `there are ${profiles.map(({ name }) => name).join(', ')}; stint profiles shows them`,
  )
}

function findStart(
  worktree: string,
  base: string | undefined,
  part: ParallelRunPart | undefined,
): { from: string; target: string } {
  const branch = part?.target ?? base?.replace(/^refs\/heads\//, '')
  const tip = branch === undefined ? undefined : branchTip(worktree, branch)
  if (branch !== undefined && tip !== undefined) return { from: tip, target: branch }
  const head = requireHead(worktree)
  if (head.branch === undefined)
    throw new StintError(
      'NO_BRANCH',
      'this checkout is on no branch that work could go back to',
      'name one: --base BRANCH',
    )
  if (base === undefined) return { from: head.commit, target: head.branch }
  try {
    const name = ['--end-of-options', `${base}^{commit}`]
    const from = runGit(worktree, ['rev-parse', '--quiet', '--verify', ...name]).trim()
    return { from, target: head.branch }
  } catch (error) {
    if (!(error instanceof GitFailed) || error.status !== 1) throw error
    throw new StintError(
      'NO_BASE',
      `there is no branch or commit "${oneLine(base)}"`,
      'git branch -a lists the branches',
    )
  }
}

/** A missing parent session is an error only when one was named. */
async function findParent(workspace: Workspace, name: string | undefined) {
  try {
    return await chooseSession(workspace, name)
  } catch (error) {
    if (name !== undefined || !(error instanceof NoSession || error instanceof AmbiguousSession))
      throw error
    if (error instanceof AmbiguousSession)
      workspace.say(
        'several sessions are active here, so that it works for none: --session names one',
      )
    return undefined
  }
}

function freeName(root: string, others: readonly DelegateState[], wanted: string, folder: string) {
  const base = nameFrom(wanted, 28) || 'delegate'
  const isTaken = (name: string) =>
    others.some(({ order }) => order.name === name) ||
    branchTip(root, `${folder}/${name}`) !== undefined
  let name = base
  for (let number = 2; isTaken(name); number += 1) name = `${base}-${number}`
  const slots = new Set(others.filter(isOpenDelegate).map(({ order }) => order.slot))
  let slot = 0
  while (slots.has(slot)) slot += 1
  return { name, slot }
}

function checkOutputPath(wanted: string | undefined, isReadOnly: boolean): string | undefined {
  if (wanted === undefined) return isReadOnly ? REPORT_FILE : undefined
  const path = normalize(wanted.trim())
  const parts = path.toLowerCase().split('/')
  const isInProject = path !== '.' && !path.startsWith('/') && parts[0] !== '..'
  // Only a file that git can commit.
  const isWork =
    !parts.includes('.git') && !IGNORED_PATHS.includes(parts[0]!) && !path.endsWith('/')
  if (isInProject && isWork) return path
  throw new StintError(
    'BAD_OUTPUT',
    `"${oneLine(wanted)}" is no file of the project that work could be in`,
    'give one from the root of the project, like tests/login.test.ts',
  )
}

export function refuseTooMany(others: readonly DelegateState[], most: number): void {
  const running = others.filter(hasLiveProcess).map(({ order }) => order.name)
  if (running.length < most) return
  throw new StintError(
    'TOO_MANY_DELEGATES',
    `${running.length} delegates are at work, which is as many as may be: ${running.join(', ')}`,
    'stint delegate wait, stint delegate stop NAME, or raise delegates.most in .sessions/config.yaml',
  )
}

/** The runner reads the verify command from the log, where secrets are redacted. */
export function refuseSecretCommand({ config }: Workspace, verify: string): void {
  if (withoutSecrets(verify, config) === verify) return
  throw new StintError(
    'VERIFY_REDACTED',
    'the verify command has a secret in it, which is not written down for those who are to run it',
    'put the command into a script, or the secret into the environment',
  )
}

function warnAboutOverlaps(
  workspace: Workspace,
  { what, files, task }: { what: string; files: readonly string[]; task: Task | undefined },
  others: readonly DelegateState[],
): void {
  const unfinished = others.filter((one) => isOpenDelegate(one) && !one.order.isReadOnly)
  if (unfinished.length === 0) return
  const known = KnownPaths.inTree(requireRepository(workspace.paths).worktree)
  const own = findTouchedFiles(taskTexts(what, task), known, files)
  for (const other of unfinished) {
    const { how, paths } = findOverlap(own, filesTouchedBy(workspace, other, known))
    if (how === 'none') continue
    const change = how === 'declared' ? 'is to change' : 'may change'
    workspace.say(
      `${other.order.name}, which is ${other.status}, ${change} the same files: ${abbreviateList(paths, 3)}; they may conflict when they are merged`,
    )
  }
}

function filesTouchedBy(
  workspace: Workspace,
  state: DelegateState,
  known: KnownPaths,
): TouchedFiles {
  const { order, run } = state
  const { declared, likely } = findTouchedFiles(taskTexts(order.what), known, order.files)
  const { tree } = run.started
  const changed = [
    ...changedFiles(workspace, state, { isMerged: false }),
    ...(repositoryAt(tree) === undefined ? [] : uncommittedPaths(tree)),
  ]
  return declared.length > 0
    ? { declared: [...declared, ...changed], likely: [] }
    : { declared, likely: [...likely, ...changed] }
}

function taskTexts(what: string, task?: Task) {
  const { description = '', details = '', checklist = [], extra = '' } = task ?? {}
  return { title: what, description, details, checklist, extra }
}
