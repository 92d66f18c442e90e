import { DEFAULT_HARNESS } from '../../harness/registry.ts'
import { join, normalize } from 'node:path'
import type { Backlog } from '../../backlog/backlog.ts'
import { type Task, findTask, isTaskOpen } from '../../backlog/task.ts'
import { readSpecialist } from '../../backlog/specialist.ts'
import { GitFailed, runGit } from '../../git/run-git.ts'
import { StintError } from '../../journal/errors.ts'
import { createFolder, removeEmptyFolder, removeFile, replaceFile } from '../../journal/files.ts'
import { mintId, shortId } from '../../journal/ids.ts'
import { AmbiguousSession, NoSession, chooseSession } from '../../project/store/choose.ts'
import { withoutSecrets } from '../../project/store/clean-draft.ts'
import { refuseInRun } from '../../project/store/in-run.ts'
import type { Place } from '../../project/store/place.ts'
import { runFolder } from '../../project/store/run-files.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { repositoryOf, worktreesFolder } from '../../project/store/worktrees.ts'
import { defined } from '../../text/defined.ts'
import { cleanText, oneLine, slug } from '../../text/clean.ts'
import { delegateEnvironment, delegateWrap } from './delegate-run.ts'
import type { DelegateOrder, RunEntryData } from '../entries.ts'
import { readyHarness } from '../loop/make-run-context.ts'
import { thisProcess } from '../loop/start-run.ts'
import { type RunOptions, resolveOptions } from '../options.ts'
import { findProfile, loadProfiles } from '../profiles/profile.ts'
import { RunLog } from '../run-log.ts'
import { openSource } from '../sources/open-source.ts'
import { fewOf } from '../worktree/remove-if-clean.ts'
import {
  NOT_WORK,
  commitOf,
  headOf,
  repositoryAt,
  treeOfItsOwn,
  uncommitted,
} from '../worktree/tree.ts'
import { briefFor } from './brief.ts'
import type { DelegateRequest } from './delegate-row.ts'
import {
  type DelegateState,
  MAKING,
  allDelegates,
  delegateNow,
  inTurn,
  isAttended,
  isUnsettled,
} from './delegates.ts'
import { removeTree } from './kept-commits.ts'
import { changedFiles, tellBegun } from './parent-journal.ts'
import { KnownPaths, type Touches, overlapOf, touchesOf } from './overlap.ts'

/** What a parallel run says of a delegate of its own. */
export interface PartOfRun {
  readonly run: string
  /** The run's branch. */
  readonly target: string
  readonly backlog?: string
}

const LONGEST_NAME = 28
const REPORT = 'REPORT.md'

/** Makes a delegate: its branch and worktree, its log and its task file. Nobody works on it yet. What is wrong is said before anything is made. */
export async function createDelegate(
  workspace: Workspace,
  request: DelegateRequest,
  part?: PartOfRun,
): Promise<DelegateState> {
  refuseInRun(workspace, 'delegating')
  const { place, config } = workspace
  repositoryOf(place)
  const others = allDelegates(place)
  if (part === undefined) refuseTooMany(others, config.delegates.most)
  const task =
    request.task === undefined ? undefined : await takeTask(workspace, request.task, others, part)
  const what = withoutSecrets(cleanText(request.what), config).trim() || task?.title || ''
  if (what === '')
    throw new StintError(
      'NEEDS_ORDER',
      'a delegate needs to be told what to do',
      'stint delegate "write tests for the parser"',
    )
  const as = specialistNamed(workspace, request.as)
  const isReadOnly = request.as !== undefined && READERS.has(readSpecialist(request.as) ?? '')
  refuseSecretCommand(workspace, request.verify ?? '')
  const options = runOptions(workspace, request, part)
  const id = mintId(undefined)
  const { from, target } = beginning(workspace, request.base, part)
  const parent = part === undefined ? await parentOf(workspace, request.session) : undefined
  const wanted = { name: request.as ?? task?.shortname ?? what, folder: branchFolder(parent, part) }
  const folder = `delegate-${shortId(id)}`
  await refuseWhatCannotStart(
    workspace,
    options,
    id,
    free(place, others, wanted),
    join(worktreesFolder(place), folder),
  )
  const output = outputOf(request.output, isReadOnly)
  const files = (request.files ?? []).map((glob) => glob.trim()).filter((glob) => glob !== '')
  workspace.prepare()
  const state = await inTurn(place, MAKING, async () => {
    // Others may have been made since it was looked.
    const now = allDelegates(place)
    if (part === undefined) refuseTooMany(now, config.delegates.most)
    if (task !== undefined) refuseDelegated(task, now)
    const { name, slot } = free(place, now, wanted)
    const { brief, file } = await briefFor(
      workspace,
      { what, name, files, isReadOnly, ...defined({ as, output, task }) },
      parent?.id,
    )
    const tree = treeOfItsOwn(place, id, `${wanted.folder}/${name}`, { name: folder, from })
    const order: DelegateOrder = {
      name,
      what,
      target,
      isReadOnly,
      files,
      slot,
      brief,
      ...defined({
        as,
        group: request.group,
        task: task?.id,
        parent: parent?.id,
        run: part?.run,
        output,
      }),
    }
    const started = {
      options,
      harness: options.harness!,
      source: `delegate ${name}`,
      ...tree,
      delegate: order,
    }
    writeDown(workspace, id, started, file)
    return delegateNow(place, id)
  })
  await tellBegun(workspace, state)
  if (part === undefined) {
    sayLeftOut(workspace)
    if (!isReadOnly)
      for (const line of foreseenOverlaps(workspace, { what, files, ...defined({ task }) }, others))
        workspace.say(line)
  }
  return state
}

/** With what it needs written down it is there. Where that cannot be written nothing is left of it. */
function writeDown(
  { place, config }: Workspace,
  id: string,
  started: Omit<RunEntryData['run.started'], 'runner'>,
  file: string,
): void {
  const { base, branch, tree } = started
  const folder = runFolder(place, id)
  const taskFile = join(folder, 'task.md')
  try {
    createFolder(folder)
    replaceFile(taskFile, file)
    // It is with its maker until somebody takes it up.
    RunLog.create(place, id, config, { ...started, runner: thisProcess() }).close()
  } catch (error) {
    removeTree(place, { branch, tree }, base)
    removeFile(taskFile)
    removeEmptyFolder(folder)
    throw error
  }
}

/** Its agent, what is put before it, and its environment: a mistake in these is better told now than by a process that is gone. */
async function refuseWhatCannotStart(
  workspace: Workspace,
  options: RunOptions,
  id: string,
  order: Pick<DelegateOrder, 'name' | 'slot'>,
  tree: string,
): Promise<void> {
  const { delegates } = workspace.config
  delegateEnvironment(order, tree, delegates)
  await readyHarness(
    workspace,
    resolveOptions(workspace, options),
    id,
    delegateWrap(order, tree, delegates),
  )
}

/** Specialists who look and tell. */
const READERS: ReadonlySet<string> = new Set(['reviewer', 'research'])

async function takeTask(
  workspace: Workspace,
  name: string,
  others: readonly DelegateState[],
  part: PartOfRun | undefined,
): Promise<Task> {
  const backlog = await (await openSource(workspace, part?.backlog)).read()
  const task = findTask(backlog.tasks, name)
  if (!isTaskOpen(task)) {
    throw new StintError(
      'TASK_DONE',
      `${task.shortname} is completed`,
      `stint task reopen ${task.shortname} opens it again`,
    )
  }
  refuseDelegated(task, others)
  refuseWaiting(task, backlog)
  return task
}

function refuseDelegated(task: Task, others: readonly DelegateState[]): void {
  const holder = others.find((one) => one.order.task === task.id && isUnsettled(one))
  if (holder === undefined) return
  const { name: other } = holder.order
  throw new StintError(
    'TASK_DELEGATED',
    `${task.shortname} is with the delegate ${other}, which is ${holder.status}`,
    `stint delegate show ${other}; stint delegate retry ${other} or stint delegate discard ${other}`,
  )
}

function refuseWaiting(task: Task, backlog: Backlog): void {
  const open = [...task.dependsOn, ...task.children]
    .map((id) => backlog.byId.get(id))
    .filter((one) => one !== undefined && isTaskOpen(one))
  const [first] = open
  if (first === undefined) return
  throw new StintError(
    'TASK_WAITS',
    `${task.shortname} waits for ${open.map((one) => one!.shortname).join(', ')}`,
    `stint delegate --task ${first.shortname} first`,
  )
}

function specialistNamed(workspace: Workspace, as: string | undefined): string | undefined {
  if (as === undefined) return undefined
  const { profiles } = loadProfiles(workspace.place.repository?.worktree ?? workspace.place.root)
  const profile = findProfile(as, profiles)
  if (profile !== undefined) return profile.name
  throw new StintError(
    'NO_PROFILE',
    `there is no profile "${oneLine(as)}"`,
    `there are ${profiles.map(({ name }) => name).join(', ')}; stint profiles shows them`,
  )
}

function runOptions(
  workspace: Workspace,
  request: DelegateRequest,
  part: PartOfRun | undefined,
): RunOptions {
  const { harness, model, verify, budgetTokens, budgetUsd, maxMinutes, permissions, script } =
    request
  return {
    harness: harness ?? workspace.config.run.harness ?? DEFAULT_HARNESS,
    ...defined({
      model,
      verify,
      budgetTokens,
      budgetUsd,
      maxMinutes,
      permissions,
      script,
      backlog: part?.backlog,
    }),
  }
}

/** Where its branch begins and where its work is to go. */
function beginning(
  workspace: Workspace,
  base: string | undefined,
  part: PartOfRun | undefined,
): { from: string; target: string } {
  const { worktree } = repositoryOf(workspace.place)
  const branch = part?.target ?? base?.replace(/^refs\/heads\//, '')
  const tip = branch === undefined ? undefined : commitOf(worktree, branch)
  if (branch !== undefined && tip !== undefined) return { from: tip, target: branch }
  const head = headOf(worktree)
  if (head.branch === undefined) {
    throw new StintError(
      'NO_BRANCH',
      'this checkout is on no branch that work could go back to',
      'name one: --base BRANCH',
    )
  }
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

/** The session it works for. Without one it works for nobody, which is no mistake unless one was named. */
async function parentOf(
  workspace: Workspace,
  name: string | undefined,
): Promise<{ id: string; name: string } | undefined> {
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

function branchFolder(parent: { name: string } | undefined, part: PartOfRun | undefined): string {
  return `stint/${parent?.name ?? (part === undefined ? 'delegates' : `run-${shortId(part.run)}-parts`)}`
}

/** A name and a port slot that no other delegate has. */
function free(
  { root }: Place,
  others: readonly DelegateState[],
  wanted: { readonly name: string; readonly folder: string },
): { readonly name: string; readonly slot: number } {
  const base = slug(wanted.name, LONGEST_NAME) || 'delegate'
  const nameOf = (number: number) => (number === 1 ? base : `${base}-${number}`)
  const isTaken = (name: string) =>
    others.some(({ order }) => order.name === name) ||
    commitOf(root, `${wanted.folder}/${name}`) !== undefined
  let number = 1
  while (isTaken(nameOf(number))) number += 1
  const slots = new Set(others.filter(isUnsettled).map(({ order }) => order.slot))
  let slot = 0
  while (slots.has(slot)) slot += 1
  return { name: nameOf(number), slot }
}

function outputOf(wanted: string | undefined, isReadOnly: boolean): string | undefined {
  if (wanted === undefined) return isReadOnly ? REPORT : undefined
  const path = normalize(wanted.trim())
  const parts = path.toLowerCase().split('/')
  const isInProject = path !== '.' && !path.startsWith('/') && parts[0] !== '..'
  // What lies in these is never committed, and a folder is nothing that could be.
  const isWork = !parts.includes('.git') && !NOT_WORK.includes(parts[0]!) && !path.endsWith('/')
  if (isInProject && isWork) return path
  throw new StintError(
    'BAD_OUTPUT',
    `"${oneLine(wanted)}" is no file of the project that work could be in`,
    'give one from the root of the project, like tests/login.test.ts',
  )
}

/** What is not committed is not on its branch: better said now than found out later. */
function sayLeftOut(workspace: Workspace): void {
  const { worktree } = repositoryOf(workspace.place)
  const dirty = uncommitted(worktree)
  if (dirty.length === 0) return
  workspace.say(`it does not have what is not committed here: ${fewOf(dirty, 3)}`)
}

/** Refuses one more, when as many are at work as may be. */
export function refuseTooMany(others: readonly DelegateState[], most: number): void {
  const running = others.filter(isAttended)
  if (running.length < most) return
  throw new StintError(
    'TOO_MANY_DELEGATES',
    `${running.length} delegates are at work, which is as many as may be: ${running.map(({ order }) => order.name).join(', ')}`,
    'stint delegate wait, stint delegate stop NAME, or raise delegates.most in .sessions/config.yaml',
  )
}

/** A verify command goes through the log to those who are to run it, and a secret in it would not. */
export function refuseSecretCommand({ config }: Workspace, verify: string): void {
  if (withoutSecrets(verify, config) === verify) return
  throw new StintError(
    'VERIFY_REDACTED',
    'the verify command has a secret in it, which is not written down for those who are to run it',
    'put the command into a script, or the secret into the environment',
  )
}

// Who will probably change the same files is told before they do, and not by a conflict.

const PATHS_SHOWN = 3

interface Wanted {
  readonly what: string
  readonly files: readonly string[]
  readonly task?: Task
}

/** One line for each delegate that has, or will have, files in common with an order. */
export function foreseenOverlaps(
  workspace: Workspace,
  wanted: Wanted,
  others: readonly DelegateState[],
): readonly string[] {
  const beside = others.filter((one) => isUnsettled(one) && !one.order.isReadOnly)
  if (beside.length === 0) return []
  const known = new KnownPaths(
    runGit(repositoryOf(workspace.place).worktree, ['ls-files', '-z']).split('\0').filter(Boolean),
  )
  const own = touchesOf(textOf(wanted.what, wanted.task), known, wanted.files)
  return beside.flatMap((other) => {
    const { how, paths } = overlapOf(own, touchedBy(workspace, other, known))
    if (how === 'none') return []
    return [
      `${other.order.name}, which is ${other.status}, ${how === 'declared' ? 'is to change' : 'may change'} the same files: ${fewOf(paths, PATHS_SHOWN)}; they may conflict when they are merged`,
    ]
  })
}

/** What it was said to change, what its order names, and what it has changed already. */
function touchedBy(workspace: Workspace, state: DelegateState, known: KnownPaths): Touches {
  const { order, run } = state
  const { declared, likely } = touchesOf(textOf(order.what), known, order.files)
  const { tree } = run.started
  const changed = [
    ...changedFiles(workspace, state, { isMerged: false }),
    ...(repositoryAt(tree) === undefined ? [] : uncommitted(tree)),
  ]
  return declared.length > 0
    ? { declared: [...declared, ...changed], likely: [] }
    : { declared, likely: [...likely, ...changed] }
}

function textOf(what: string, task?: Task): Parameters<typeof touchesOf>[0] {
  return {
    title: what,
    description: task?.description ?? '',
    details: task?.details ?? '',
    checklist: task?.checklist ?? [],
    extra: task?.extra ?? '',
  }
}
