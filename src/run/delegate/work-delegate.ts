// A delegate at work, in this process: the run of its one task, and what came of it as its next step.
import { join } from 'node:path'
import { StintError, errnoOf } from '../../journal/errors.ts'
import { openForOutput, replaceFile } from '../../journal/files.ts'
import { readOrUndefined } from '../../journal/look.ts'
import { redaction, withoutSecrets } from '../../project/store/clean-draft.ts'
import { runFolder } from '../../project/store/run-files.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { appendToBacklog, refreshTasks } from '../../project/tasks/backlog.ts'
import { type Usage, draft } from '../../session/entries.ts'
import { cleanText } from '../../text/clean.ts'
import { defined } from '../../text/defined.ts'
import { redactDeep } from '../../text/redact.ts'
import { safeLine } from '../../text/safe-text.ts'
import { delegateRun, delegateSource, delegateWrap } from './delegate-run.ts'
import { RunEnds, Stopping } from '../attempt/run-context.ts'
import {
  type DelegateMove,
  type DelegateOrder,
  type Emit,
  type EndOfRun,
  type Listener,
  type RunReport,
  emitTo,
} from '../entries.ts'
import { makeRunContext, readyHarness } from '../loop/make-run-context.ts'
import { bringBackTree, endLeftovers } from '../loop/resume.ts'
import { Selection } from '../loop/selection.ts'
import { type RunHandle, thisProcess, work } from '../loop/start-run.ts'
import { type RunOptions, resolveOptions } from '../options.ts'
import { RunLog, readRun } from '../run-log.ts'
import { commitAsFound } from '../worktree/rollback.ts'
import { fewOf } from '../worktree/remove-if-clean.ts'
import {
  type DelegateState,
  MAKING,
  allDelegates,
  delegateNow,
  inTurn,
  isAttended,
  takingUp,
} from './delegates.ts'
import { keepProved, keepStrayCommits, removeTree } from './kept-commits.ts'
import { tellBegun, tellParent } from './parent-journal.ts'
import { spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { stintProgram } from '../../harness/process/find-program.ts'
import type { Place } from '../../project/store/place.ts'
import { plainEnvironment } from '../attempt/agent-environment.ts'
import { refuseTooMany } from './create-delegate.ts'

export interface WorkOptions {
  /** What others use that share its budget. */
  readonly spentBeside?: () => Readonly<Record<string, Usage>>
  /** Told what it has used itself, for those. */
  readonly spending?: (spent: Readonly<Record<string, Usage>>) => void
  /** What holds in place of how it was begun. */
  readonly told?: RunOptions
}

const LONGEST_REPORT = 256 * 1024

/** Ends that say too little by themselves. */
const ENDS: Readonly<Partial<Record<EndOfRun | 'running', string>>> = {
  'budget tokens': 'its budget in tokens is used up',
  'budget usd': 'its budget in dollars is used up',
  'max minutes': 'its time is up',
  'usage limit': 'a usage limit was reached',
  'harness failed': 'its agent program failed',
}

/** Begins a delegate, or begins it again. Once the handle has ended the delegate is ready, or has failed. */
export async function workDelegate(
  workspace: Workspace,
  id: string,
  options: WorkOptions,
  listener: Listener,
): Promise<RunHandle> {
  const log = new RunLog(workspace.place, id, workspace.config, listener)
  const before = await takeUp(workspace, id, log)
  const stopping = new Stopping()
  const emit = emitTo(listener)
  try {
    if (before.move !== undefined) await tellBegun(workspace, delegateNow(workspace.place, id))
    const begun = await prepare(workspace, before, log, stopping, emit, options)
    return {
      ended: begun().then(
        async (report) => {
          await moveOnInTurn(workspace, id, report.how)
          emit('run.report', report)
          return report
        },
        async (error: unknown) => {
          await moveOnInTurn(workspace, id, 'interrupted', reasonOf(error))
          throw error
        },
      ),
      stop: (how) => {
        stopping.stop(how)
        emit('stopping', { how })
      },
    }
  } catch (error) {
    log.append('run.ended', { how: 'interrupted' })
    await moveOnInTurn(workspace, id, 'interrupted', reasonOf(error))
    throw error
  }
}

/** Of two who take it up at once one has it. Answers how it stood before. */
function takeUp({ place }: Workspace, id: string, log: RunLog): Promise<DelegateState> {
  return inTurn(place, takingUp(id), () => {
    const before = delegateNow(place, id)
    // One that was never begun is handed over by whoever made it.
    if (before.isBegun) refuseToBegin(before)
    log.append('run.resumed', { runner: thisProcess() })
    return before
  })
}

/** Refuses one that somebody works on, and one that is over. */
export function refuseToBegin(state: DelegateState): void {
  const { name } = state.order
  if (isAttended(state)) {
    throw new StintError(
      'DELEGATE_BUSY',
      `${name} is ${state.status}`,
      `stint delegate wait ${name}, or stint delegate stop ${name}`,
    )
  }
  if (state.status === 'merged' || state.status === 'discarded') {
    throw new StintError(
      'DELEGATE_OVER',
      `${name} is ${state.status}`,
      'stint delegate "what" begins another',
    )
  }
}

/** Leaves it a word for when it is begun again. */
export function tellDelegate({ place, config }: Workspace, id: string, note: string): void {
  const log = new RunLog(place, id, config)
  log.append('delegate.told', { text: withoutSecrets(cleanText(note), config) })
  log.close()
}

/** The order with what was noted since it was given. */
function withNotes(order: DelegateOrder, notes: readonly string[]): DelegateOrder {
  if (notes.length === 0) return order
  return {
    ...order,
    brief: [
      order.brief,
      'Noted since by whoever gave the order:',
      ...notes.map((note) => `- ${safeLine(note)}`),
    ]
      .join('\n\n')
      .trim(),
  }
}

async function prepare(
  workspace: Workspace,
  { id, order: given, run: state, move, ready, toMend, notes }: DelegateState,
  log: RunLog,
  stopping: Stopping,
  emit: Emit,
  { spentBeside, spending, told }: WorkOptions,
): Promise<() => Promise<RunReport>> {
  const { place } = workspace
  const order = withNotes(given, notes)
  const { branch, base, tree, options, harness: name } = state.started
  const settled = resolveOptions(workspace, {
    ...options,
    harness: options.harness ?? name,
    ...told,
  })
  const harness = await readyHarness(
    workspace,
    settled,
    id,
    delegateWrap(order, tree, workspace.config.delegates),
  )
  await endLeftovers(state)
  const own = { tree, branch, base, isInPlace: false }
  commitAsFound(place, id, own)
  bringBackTree(place, state, move?.commit ?? ready?.commit)
  const source = await delegateSource(workspace, id, order, options.backlog)
  const backlog = await source.read()
  const selection = new Selection(backlog, {})
  const delegate = delegateRun(order, tree, workspace.config.delegates, toMend)
  const open = selection.open(backlog)
  const scene = makeRunContext(workspace, {
    run: id,
    log,
    harness,
    settled,
    tree: own,
    open,
    all: open,
    source,
    stopping,
    emit,
    decide: undefined,
    delegate,
    ...defined({ spentBeside, spending }),
  })
  return () => work(scene, selection, thisProcess(), state, open, 0)
}

/** The same for who works on it, as long as that is still so. */
async function moveOnInTurn(
  workspace: Workspace,
  id: string,
  how: EndOfRun | 'running',
  failure?: string,
): Promise<void> {
  await inTurn(workspace.place, takingUp(id), async () => {
    const { pid, startedAt } = thisProcess()
    const { runner } = delegateNow(workspace.place, id).run
    if (runner.pid === pid && runner.startedAt === startedAt)
      await moveOn(workspace, id, how, failure)
  })
}

/** Writes down what became of it, and tells whoever it works for. For whoever has the turn. */
export async function moveOn(
  workspace: Workspace,
  id: string,
  how: EndOfRun | 'running',
  failure?: string,
): Promise<DelegateState> {
  const { place, config } = workspace
  const { order, run, since, status } = delegateNow(place, id)
  if (status !== 'running') return delegateNow(place, id)
  const last = run.attempts.at(-1)
  // What was done before it was begun again is not what it was begun again for.
  const isDone = last?.outcome === 'done' && (last.endedAt ?? '') >= since
  const move = isDone ? readyMove(workspace, id, last) : failedMove(workspace, id, how, failure)
  if (move.to === 'ready' && !order.isReadOnly) keepProved(place, id, move.commit)
  const log = new RunLog(place, id, config)
  log.append('delegate.moved', move)
  log.close()
  const state = delegateNow(place, id)
  await tellParent(workspace, state)
  // Its report is kept, and there was nothing else in its tree.
  if (isDone && order.isReadOnly) {
    await closeAnswered(workspace, state)
    keepStrayCommits(place, state, (text) => workspace.say(text))
    removeTree(place, run.started, run.started.base)
  }
  return state
}

/** The task of one that only reads is answered by its report: nothing of it will be merged. */
async function closeAnswered(
  workspace: Workspace,
  { id, order, ready }: DelegateState,
): Promise<void> {
  if (order.task === undefined) return
  const summary = ready?.summary === undefined ? {} : { summary: ready.summary }
  const closed = { task: order.task, status: 'completed' as const, ...summary, whose: order.name }
  appendToBacklog(workspace, [
    draft('task.moved', closed, { by: 'run', once: `delegate:${id}:done:${order.task}` }),
  ])
  await refreshTasks(workspace, [order.task])
}

function readyMove(
  workspace: Workspace,
  id: string,
  { commit, summary }: DelegateState['run']['attempts'][number],
): DelegateMove {
  const { order, run } = delegateNow(workspace.place, id)
  const known = {
    ...defined({ commit, summary }),
  }
  if (!order.isReadOnly || order.output === undefined) return { to: 'ready', ...known }
  const report = join('runs', id, 'report.md')
  keepReport(
    workspace,
    join(run.started.tree, order.output),
    join(runFolder(workspace.place, id), 'report.md'),
  )
  return { to: 'ready', ...known, report }
}

function keepReport(workspace: Workspace, from: string, to: string): void {
  const text = readOrUndefined(from)?.subarray(0, LONGEST_REPORT).toString('utf8')
  if (text !== undefined)
    replaceFile(to, `${withoutSecrets(cleanText(text), workspace.config).trim()}\n`)
}

function failedMove(
  workspace: Workspace,
  id: string,
  how: EndOfRun | 'running',
  failure: string | undefined,
): DelegateMove {
  const { run, since } = delegateNow(workspace.place, id)
  const { tree, branch, base } = run.started
  const found = foundIn(workspace, id, { tree, branch, base })
  const last = run.attempts.at(-1)
  // What went wrong before it was begun again is not why it failed now.
  const reason = (last?.endedAt ?? '') >= since ? last?.reason : undefined
  const because = failure ?? (how === 'interrupted' ? 'stopped' : (reason ?? ENDS[how] ?? how))
  return {
    to: 'failed',
    because: [because, ...(found.left === undefined ? [] : [leftWords(found.left)])].join('; '),
    ...found,
  }
}

function foundIn(
  workspace: Workspace,
  id: string,
  tree: { tree: string; branch: string; base: string },
): Pick<DelegateMove, 'commit' | 'kept' | 'left'> {
  try {
    const { leftOut, ...found } = commitAsFound(workspace.place, id, { ...tree, isInPlace: false })
    if (leftOut === undefined) return found
    workspace.say(`${leftWords(leftOut)}; it is still in ${tree.tree}`)
    return { ...found, left: leftOut }
  } catch (error) {
    // What could not be committed is still in the worktree, which stays.
    if (!(error instanceof StintError) && errnoOf(error) === undefined) throw error
    workspace.say(
      `what is in ${tree.tree} could not be committed, and stays there: ${reasonOf(error)}`,
    )
    return {}
  }
}

function leftWords(paths: readonly string[]): string {
  return `could not be committed: ${fewOf(paths)}`
}

function reasonOf(error: unknown): string {
  if (error instanceof RunEnds) return error.because || error.how
  return error instanceof Error ? error.message : String(error)
}

/** What `stint delegate work` does: works until it is ready or has failed, ends at once when it is told to, and tells what happens. */
export async function runDelegateProcess(
  workspace: Workspace,
  id: string,
  tell: Listener,
): Promise<void> {
  const secrets = redaction(workspace.config)
  const handle = await workDelegate(workspace, id, {}, (event) =>
    tell(redactDeep(event, secrets).value),
  )
  const stop = () => handle.stop('now')
  // The terminal it was begun in may be closed; it does not belong to it.
  const ignore = () => {}
  process.on('SIGTERM', stop).on('SIGINT', stop).on('SIGHUP', ignore)
  try {
    await handle.ended
  } finally {
    process.off('SIGTERM', stop).off('SIGINT', stop).off('SIGHUP', ignore)
  }
}

// A delegate goes on when the command that began it is over: in a process of its own that belongs to no terminal.

const LOOK_MS = 50
const MOST_LOOKS = 600

/** What the process of a delegate says while it works. */
export function outputPath(place: Place, id: string): string {
  return join(runFolder(place, id), 'output.log')
}

/** Starts the process of a delegate, and waits until it has taken it up. */
export async function startInBackground(workspace: Workspace, id: string): Promise<void> {
  await inTurn(workspace.place, MAKING, async () => {
    const others = allDelegates(workspace.place).filter((one) => one.id !== id)
    refuseTooMany(others, workspace.config.delegates.most)
    await startProcess(workspace, id)
  })
}

async function startProcess(workspace: Workspace, id: string): Promise<void> {
  const { place, env } = workspace
  const { order } = delegateNow(place, id)
  const output = openForOutput(outputPath(place, id))
  const before = spellsOf(place, id)
  const child = spawn(process.execPath, [stintProgram(), 'delegate', 'work', id], {
    cwd: place.root,
    env: plainEnvironment(env),
    stdio: ['ignore', output, output],
    detached: true,
  })
  closeSync(output)
  let isOver = false
  child.once('exit', () => (isOver = true)).once('error', () => (isOver = true))
  child.unref()
  for (let look = 0; look < MOST_LOOKS; look += 1) {
    if (spellsOf(place, id) > before) return
    if (isOver) break
    await sleep(LOOK_MS)
  }
  if (spellsOf(place, id) > before) return
  const because = 'its process did not begin'
  await inTurn(place, takingUp(id), async () => {
    if (!delegateNow(place, id).isBegun) await moveOn(workspace, id, 'interrupted', because)
  })
  const said =
    readOrUndefined(outputPath(place, id))
      ?.toString('utf8')
      .trim()
      .split('\n')
      .slice(-5)
      .join('\n') ?? ''
  throw new StintError(
    'DELEGATE_NOT_BEGUN',
    `the process of ${order.name} did not begin${said === '' ? '' : `: ${said}`}`,
    `stint delegate retry ${order.name} tries again`,
  )
}

function spellsOf(place: Place, id: string): number {
  return readRun(place, id).filter(({ kind }) => kind === 'run.resumed').length
}
