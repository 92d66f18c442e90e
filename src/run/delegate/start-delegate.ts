import { spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findStintProgram } from '../../harness/process/find-program.ts'
import { StintError, errnoOf, reasonOf } from '../../journal/errors.ts'
import { openForOutput, replaceFile } from '../../journal/write-files.ts'
import { readOrUndefined } from '../../journal/read-files.ts'
import { redaction, withoutSecrets } from '../../project/store/clean-draft.ts'
import { runFolder } from '../../project/store/run-files.ts'
import { requireConsent } from '../../project/trust/trust.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { appendToBacklog, refreshTasks } from '../../project/tasks/project-backlog.ts'
import type { Usage } from '../../session/entries.ts'
import { cleanText } from '../../text/clean.ts'
import { defined } from '../../text/defined.ts'
import { redactDeep } from '../../text/redact.ts'
import { safeLine } from '../../text/safe-text.ts'
import { RunEndedError, StopSignal, plainEnvironment } from '../attempt/run-context.ts'
import {
  type DelegateStatusChange,
  type Emit,
  type EndOfRun,
  type RunListener,
  type RunReport,
  emitTo,
} from '../entries.ts'
import { makeRunContext, requireHarness } from '../loop/make-run-context.ts'
import { endOrphanedProcesses, restoreRunTree } from '../loop/resume.ts'
import { TaskSelection } from '../loop/task-selection.ts'
import { type RunHandle, thisProcess, workAsDelegate } from '../loop/start-run.ts'
import { type RunOptions, resolveOptions } from '../options.ts'
import { RunLog, readRun } from '../run-log.ts'
import { abbreviateList } from '../worktree/remove-worktree.ts'
import { commitLeftWork } from '../worktree/rollback.ts'
import { refuseTooMany } from './create-delegate.ts'
import { delegateSource, delegateWrap, makeDelegateContext } from './delegate-context.ts'
import {
  CREATE_CLAIM,
  type DelegateState,
  delegateClaim,
  hasLiveProcess,
  readDelegate,
  readDelegates,
  withClaim,
  withRunLog,
} from './delegates.ts'
import { isSameProcess } from '../loop/claims.ts'
import { removeDelegateTree, saveOrphanedCommits, saveProvedRef } from './delegate-commits.ts'
import { reportStartToParent, reportToParent, taskDoneDrafts } from './parent-journal.ts'

interface StartDelegateOptions {
  readonly usedByOthers?: () => Readonly<Record<string, Usage>>
  readonly onUsage?: (spent: Readonly<Record<string, Usage>>) => void
  readonly overrides?: RunOptions
}

const LONGEST_REPORT = 256 * 1024

const END_REASONS: Readonly<Partial<Record<EndOfRun | 'running', string>>> = {
  'budget tokens': 'its budget in tokens is used up',
  'budget usd': 'its budget in dollars is used up',
  'max minutes': 'its time is up',
  'usage limit': 'a usage limit was reached',
  'harness failed': 'its agent program failed',
}

/** Starts or restarts a delegate. When the handle ends, it is ready or has failed. */
export async function startDelegate(
  workspace: Workspace,
  id: string,
  options: StartDelegateOptions,
  listener: RunListener,
): Promise<RunHandle> {
  const { paths } = workspace
  const log = new RunLog(paths, id, workspace.config, listener)
  const before = await withClaim(paths, delegateClaim(id), () => {
    const state = readDelegate(paths, id)
    // A delegate that never started still belongs to its creator, which hands it over now.
    if (state.isStarted) refuseToBegin(state)
    log.append('run.resumed', { runner: thisProcess() })
    return state
  })
  const stopping = new StopSignal()
  const emit = emitTo(listener)
  const interrupted = async (error: unknown): Promise<never> => {
    await recordEndIfOurs(workspace, id, 'interrupted', endReason(error))
    throw error
  }
  try {
    if (before.move !== undefined) await reportStartToParent(workspace, readDelegate(paths, id))
    const begin = await prepareDelegate(workspace, before, log, stopping, emit, options)
    return {
      ended: begin().then(async (report) => {
        await recordEndIfOurs(workspace, id, report.how)
        emit('run.report', report)
        return report
      }, interrupted),
      stop: (how) => {
        stopping.stop(how)
        emit('stopping', { how })
      },
    }
  } catch (error) {
    log.append('run.ended', { how: 'interrupted' })
    return interrupted(error)
  }
}

export function refuseToBegin(state: DelegateState): void {
  const { name } = state.order
  const what = `${name} is ${state.status}`
  if (hasLiveProcess(state))
    throw new StintError(
      'DELEGATE_BUSY',
      what,
      `stint delegate wait ${name}, or stint delegate stop ${name}`,
    )
  if (state.status === 'merged' || state.status === 'discarded')
    throw new StintError('DELEGATE_OVER', what, 'stint delegate "what" begins another')
}

export async function addDelegateNote(
  workspace: Workspace,
  id: string,
  note: string,
): Promise<void> {
  const text = withoutSecrets(cleanText(note), workspace.config)
  await withRunLog(workspace, id, (log) => log.append('delegate.told', { text }))
}

async function prepareDelegate(
  workspace: Workspace,
  { id, order: given, run: state, move, ready, openRejection, notes }: DelegateState,
  log: RunLog,
  stopping: StopSignal,
  emit: Emit,
  { usedByOthers, onUsage, overrides }: StartDelegateOptions,
): Promise<() => Promise<RunReport>> {
  requireConsent(workspace)
  const { paths, config } = workspace
  const lines = notes.map((note) => `- ${safeLine(note)}`)
  const withNotes = [given.brief, 'Noted since by whoever gave the order:', ...lines].join('\n\n')
  const order = notes.length === 0 ? given : { ...given, brief: withNotes.trim() }
  const { branch, base, tree, options, harness: name } = state.started
  const all = { ...options, harness: options.harness ?? name, ...overrides }
  const resolved = resolveOptions(workspace, all)
  const wrap = delegateWrap(order, tree, config.delegates)
  const harness = await requireHarness(workspace, resolved, id, wrap)
  await endOrphanedProcesses(state)
  commitLeftWork(paths, id, state.started)
  restoreRunTree(paths, state, move?.commit ?? ready?.commit)
  const source = await delegateSource(workspace, id, order, options.backlog)
  const backlog = await source.read()
  // A pull may have changed its text since it was created.
  requireConsent(workspace, backlog.tasks)
  const selection = new TaskSelection(backlog, {})
  const open = selection.openTasks(backlog)
  const context = makeRunContext(workspace, {
    run: id,
    log,
    harness,
    options: resolved,
    tree: { tree, branch, base, isInPlace: false },
    open,
    all: open,
    source,
    stopping,
    emit,
    decide: undefined,
    delegate: makeDelegateContext(order, tree, config.delegates, openRejection),
    ...defined({ usedByOthers, onUsage }),
  })
  return () => workAsDelegate(context, { workspace, selection, before: state, open })
}

async function recordEndIfOurs(
  workspace: Workspace,
  id: string,
  how: EndOfRun | 'running',
  failure?: string,
): Promise<void> {
  await withClaim(workspace.paths, delegateClaim(id), async () => {
    const { run } = readDelegate(workspace.paths, id)
    if (isSameProcess(run.runner, thisProcess()))
      await recordDelegateEnd(workspace, id, how, failure)
  })
}

/** Records how its run ended and reports it to the parent. The caller holds the delegate's claim. */
export async function recordDelegateEnd(
  workspace: Workspace,
  id: string,
  how: EndOfRun | 'running',
  failure?: string,
): Promise<DelegateState> {
  const { paths } = workspace
  const before = readDelegate(paths, id)
  if (before.status !== 'running') return before
  const { order, run, since } = before
  // Ignore an attempt that ended before this start.
  const attempt = run.attempts.at(-1)
  const last = (attempt?.endedAt ?? '') >= since ? attempt : undefined
  const isDone = last?.outcome === 'done'
  const because =
    failure ?? (how === 'interrupted' ? 'stopped' : (last?.reason ?? END_REASONS[how] ?? how))
  const move = isDone ? readyMove(workspace, before, last) : failedMove(workspace, before, because)
  if (isDone && !order.isReadOnly) saveProvedRef(paths, id, move.commit)
  await withRunLog(workspace, id, (log) => log.append('delegate.moved', move))
  const state = readDelegate(paths, id)
  await reportToParent(workspace, state)
  // The report is stored and completes the task; the worktree holds nothing else.
  if (isDone && order.isReadOnly) {
    if (order.task !== undefined) {
      appendToBacklog(workspace, taskDoneDrafts(state))
      await refreshTasks(workspace, [order.task])
    }
    saveOrphanedCommits(paths, state, (text) => workspace.say(text))
    removeDelegateTree(paths, run.started, run.started.base)
  }
  return state
}

function readyMove(
  { paths, config }: Workspace,
  { id, order, run }: DelegateState,
  { commit, summary }: DelegateState['run']['attempts'][number],
): DelegateStatusChange {
  const move = { to: 'ready' as const, ...defined({ commit, summary }) }
  if (!order.isReadOnly || order.output === undefined) return move
  const written = readOrUndefined(join(run.started.tree, order.output))
  if (written !== undefined) {
    const text = cleanText(written.subarray(0, LONGEST_REPORT).toString('utf8'))
    const path = join(runFolder(paths, id), 'report.md')
    replaceFile(path, `${withoutSecrets(text, config).trim()}\n`)
  }
  return { ...move, report: join('runs', id, 'report.md') }
}

function failedMove(
  workspace: Workspace,
  { id, run }: DelegateState,
  because: string,
): DelegateStatusChange {
  const { tree } = run.started
  try {
    const { leftOut: left, ...found } = commitLeftWork(workspace.paths, id, run.started)
    if (left === undefined) return { to: 'failed', because, ...found }
    const what = `could not be committed: ${abbreviateList(left)}`
    workspace.say(`${what}; it is still in ${tree}`)
    return { to: 'failed', because: `${because}; ${what}`, ...found, left }
  } catch (error) {
    if (!(error instanceof StintError) && errnoOf(error) === undefined) throw error
    workspace.say(`what is in ${tree} could not be committed, and stays there: ${reasonOf(error)}`)
    return { to: 'failed', because }
  }
}

function endReason(error: unknown): string {
  return error instanceof RunEndedError ? error.because || error.how : reasonOf(error)
}

/** `stint delegate work`: runs until ready or failed; a signal stops it at once. */
export async function runDelegateProcess(
  workspace: Workspace,
  id: string,
  listener: RunListener,
): Promise<void> {
  const secrets = redaction(workspace.config)
  const handle = await startDelegate(workspace, id, {}, (event) =>
    listener(redactDeep(event, secrets).value),
  )
  const stop = () => handle.stop('now')
  // It outlives the terminal it was started in.
  const ignore = () => {}
  process.on('SIGTERM', stop).on('SIGINT', stop).on('SIGHUP', ignore)
  try {
    await handle.ended
  } finally {
    process.off('SIGTERM', stop).off('SIGINT', stop).off('SIGHUP', ignore)
  }
}

export async function startInBackground(workspace: Workspace, id: string): Promise<void> {
  await withClaim(workspace.paths, CREATE_CLAIM, async () => {
    const others = readDelegates(workspace.paths).filter((one) => one.id !== id)
    refuseTooMany(others, workspace.config.delegates.most)
    await startProcess(workspace, id)
  })
}

async function startProcess(workspace: Workspace, id: string): Promise<void> {
  const { paths, env } = workspace
  const { name } = readDelegate(paths, id).order
  const path = join(runFolder(paths, id), 'output.log')
  const output = openForOutput(path)
  const starts = () => readRun(paths, id).filter(({ kind }) => kind === 'run.resumed').length
  const before = starts()
  const child = spawn(process.execPath, [findStintProgram(), 'delegate', 'work', id], {
    cwd: paths.root,
    env: plainEnvironment(env),
    stdio: ['ignore', output, output],
    detached: true,
  })
  closeSync(output)
  let isOver = false
  child.once('exit', () => (isOver = true)).once('error', () => (isOver = true))
  child.unref()
  for (let polls = 0; starts() <= before; polls += 1) {
    if (!isOver && polls < 600) {
      await sleep(50)
      continue
    }
    await withClaim(paths, delegateClaim(id), async () => {
      if (!readDelegate(paths, id).isStarted)
        await recordDelegateEnd(workspace, id, 'interrupted', 'its process did not begin')
    })
    const printed = readOrUndefined(path)?.toString('utf8').trim() ?? ''
    const output = printed === '' ? '' : `: ${printed.split('\n').slice(-5).join('\n')}`
    throw new StintError(
      'DELEGATE_NOT_BEGUN',
      `the process of ${name} did not begin${output}`,
      `stint delegate retry ${name} tries again`,
    )
  }
}
