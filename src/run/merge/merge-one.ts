// One delegate's work goes into its target branch, or the outcome says why not. Every step is in the delegate's log before it is made.
import { QUIETLY } from '../../git/working-tree.ts'
import { StintError } from '../../journal/errors.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { defined } from '../../text/defined.ts'
import {
  type DelegateState,
  delegateNow,
  inTurn,
  isSameProcess,
  takingUp,
} from '../delegate/delegates.ts'
import { contains, hasCommit, inRepository, provedInstead } from '../delegate/kept-commits.ts'
import { tellParent } from '../delegate/parent-journal.ts'
import type { DelegateMove, MergeOutcome } from '../entries.ts'
import { RunLog } from '../run-log.ts'
import { contradictionsOf } from './contradictions.ts'
import { finish, isOnTarget, keptMerge, readyAgain, tidy } from './finish.ts'
import {
  integrationTree,
  makeTree,
  mergeInto,
  moveTarget,
  obstacleTo,
  removeIntegrationTree,
  targetNow,
  treeToTryIn,
} from './target.ts'
import {
  type MergeContext,
  STOPPED,
  notReady,
  outcomeOf,
  proposalFor,
  reasonNotToMerge,
  reasonOf,
  refuseWhenStopped,
  retryCommand,
  say,
  sayOnce,
  waiting,
} from './outcomes.ts'
import { openPullRequest } from './pull-request.ts'
import { cleanText, oneLine, shorten } from '../../text/clean.ts'
import { plainEnvironment } from '../attempt/agent-environment.ts'
import { delegateEnvironment } from '../delegate/delegate-run.ts'
import { resolveOptions } from '../options.ts'
import { type VerifyResult, runVerify } from '../proof/prove.ts'
import { openSource } from '../sources/open-source.ts'
import { headInWords, headNow, headOf, uncommitted } from '../worktree/tree.ts'

/** How often the target branch may move under us before we leave it to a quieter hour. */
const ROUNDS = 3

interface OneMerge {
  readonly context: MergeContext
  readonly log: RunLog
  readonly state: DelegateState
  /** The commit to merge. */
  readonly tip: string
}

export async function mergeOne(context: MergeContext, state: DelegateState): Promise<MergeOutcome> {
  const { options, workspace } = context
  const { place } = workspace
  const { target } = state.order
  const refusal = reasonNotToMerge(state)
  if (refusal !== undefined) {
    if (state.status === 'merged' && options.isDryRun !== true)
      tidyAgain(workspace, state, (text) => say(context, text))
    return outcomeOf(state, 'not ready', refusal)
  }
  const tip = tipToMerge(context, state)
  if (tip === undefined)
    return notReady(state, `its branch ${state.run.started.branch} is gone`, retryCommand(state))
  const onto = targetNow(place, target)
  if (onto === undefined) return waiting(state, `there is no branch ${target} any more`)
  const isThere = contains(place, onto, tip)
  if (isThere && isEmpty(workspace, state, tip, onto))
    return notReady(state, 'it has nothing that could be merged', retryCommand(state))
  if (options.isDryRun === true)
    return isThere
      ? outcomeOf(state, 'would merge', { because: `it is on ${target} already` })
      : tryOut(context, state, tip, onto)
  if (options.isPullRequest === true) return openPullRequest(context, state, tip)
  const log = new RunLog(place, state.id, workspace.config)
  try {
    return await mergeLogged({ context, log, state, tip })
  } finally {
    removeIntegrationTree(place, integrationTree(place, state.id))
    log.close()
  }
}

/** With an end in the log, whatever goes wrong: it is ready again, or its work is on the target branch and the rest is done later. */
async function mergeLogged(one: OneMerge): Promise<MergeOutcome> {
  try {
    return (
      (await mergeInRounds(one)) ??
      backToReady(one, 'the target goes on faster than this is verified')
    )
  } catch (error) {
    const outcome = outcomeInSpiteOf(error, one)
    if (error instanceof StintError) return outcome
    throw error
  }
}

/** What has happened has happened: the target branch and the log decide, and not what went wrong behind them. */
function outcomeInSpiteOf(error: unknown, one: OneMerge): MergeOutcome {
  const { place } = one.context.workspace
  const { landing } = delegateNow(place, one.state.id).merge ?? {}
  const reason = reasonOf(error)
  if (landing === undefined || !isOnTarget(place, landing)) return backToReady(one, reason)
  return waiting(
    one.state,
    `it is on ${landing.target}, but its journal could not be told: ${reason}`,
  )
}

/** Undefined when the target branch has moved in every round. */
async function mergeInRounds(one: OneMerge): Promise<MergeOutcome | undefined> {
  const { context, log, state, tip } = one
  const { at, merger, options, workspace } = context
  const { place } = workspace
  const { id, order } = state
  const { target } = order
  const tree = integrationTree(place, id)
  for (let round = 1; round <= ROUNDS; round += 1) {
    refuseWhenStopped(context)
    const onto = targetNow(place, target)
    if (onto === undefined) return backToReady(one, `there is no branch ${target} any more`)
    const refusal = await inTurn(place, takingUp(id), () => {
      const now = delegateNow(place, id)
      // Another command may have started or discarded it since it was read.
      const because = isStillOurs(context, now) ? undefined : reasonNotToMerge(now)
      if (because === undefined) log.append('merge.begun', { target, onto, tip, merger, tree })
      return because
    })
    if (refusal !== undefined) return outcomeOf(state, 'not ready', refusal)
    await at('begun')
    if (contains(place, onto, tip)) return landed(one, state, onto)
    const made = await makeMerge(context, state, { tree, tip, onto })
    const taken = takenOver(one)
    if (taken !== undefined) return taken
    if (made.is === 'held') return backToReady(one, made.because)
    if (made.is !== 'green') {
      const { is, ...why } = made
      const to = is === 'conflict' ? 'conflicted' : 'failed'
      return reject(one, { to, target, onto, ...why })
    }
    await at('verified')
    const contradictions = await contradictionsOf(workspace, state)
    const more = contradictions.length === 0 ? {} : { contradictions }
    refuseWhenStopped(context)
    const { to } = made
    const proposal = () => proposalFor(workspace, state, { from: onto, to, contradictions })
    if (options.review !== undefined && !(await options.review(proposal())))
      return { ...backToReady(one, 'refused in review'), how: 'refused', ...more }
    refuseWhenStopped(context)
    inRepository(place, ...QUIETLY, 'update-ref', keptMerge(id), to)
    await at('kept')
    const takenThen = takenOver(one)
    if (takenThen !== undefined) return takenThen
    log.append('merge.landing', { target, from: onto, to })
    await at('landing')
    const note = `stint: merge delegate ${order.name}`
    const moved = moveTarget(place, { target, from: onto, to, note })
    if (moved.is === 'held') return backToReady(one, moved.because)
    if (moved.is === 'gone on') continue
    await at('landed')
    return { ...(await landed(one, delegateNow(place, id), to)), ...more }
  }
  return undefined
}

/** Its work is on the target branch: now, or already, because somebody merged it by hand. */
async function landed(
  { context, log, tip }: OneMerge,
  state: DelegateState,
  commit: string,
): Promise<MergeOutcome> {
  const { at, workspace } = context
  const { target } = state.order
  const tell = (text: string) => say(context, text)
  await finish({ workspace, say: tell, at }, log, state, { target, commit, tip })
  return { ...outcomeOf(state, 'merged'), commit }
}

/** Nothing is wrong with it; it stays as it is for the next time. What another command has made of it meanwhile stands. */
function backToReady({ context, log, state, tip }: OneMerge, because: string): MergeOutcome {
  const { place } = context.workspace
  if (isStillOurs(context, delegateNow(place, state.id)))
    readyAgain(place, log, state, { because, commit: tip })
  return waiting(state, because)
}

function takenOver({ context, state }: OneMerge): MergeOutcome | undefined {
  const now = delegateNow(context.workspace.place, state.id)
  return isStillOurs(context, now) ? undefined : notReady(state, `it is ${now.status} now`)
}

function isStillOurs({ merger }: MergeContext, { status, merge }: DelegateState): boolean {
  return status === 'merging' && merge !== undefined && isSameProcess(merge.merger, merger)
}

/** What is to be merged: its branch as it is now, which need not be what was proved; or what was proved, where the branch has nothing. */
function tipToMerge(
  context: MergeContext,
  { order, ready, run }: DelegateState,
): string | undefined {
  const { place } = context.workspace
  const { base, branch } = run.started
  const tip = targetNow(place, branch)
  const proved = ready?.commit
  const instead = provedInstead(place, { tip, base, proved })
  if (instead !== undefined) {
    const what = tip === undefined ? 'gone' : 'back where it began'
    say(context, `${order.name}: ${branch} is ${what}; the commit that was proved is merged`)
    return instead
  }
  if (tip !== undefined && proved !== undefined && tip !== proved)
    say(
      context,
      `${order.name}: ${branch} is not where it was proved any more; it is verified as it is now`,
    )
  return tip
}

/** Of a branch that the target branch contains: nothing of its own is on it, and what was proved once is not on the target branch either. */
function isEmpty(
  { place }: Workspace,
  { ready, run }: DelegateState,
  tip: string,
  onto: string,
): boolean {
  const isProvedThere =
    ready?.commit !== undefined &&
    hasCommit(place, ready.commit) &&
    contains(place, onto, ready.commit)
  return !isProvedThere && contains(place, run.started.base, tip)
}

/** For one whose merging process died between its last entry and tidying up. */
export function tidyAgain(
  workspace: Workspace,
  state: DelegateState,
  tell: (text: string) => void,
): void {
  const target = state.move?.target ?? state.order.target
  const tip = targetNow(workspace.place, state.run.started.branch)
  if (tip !== undefined) tidy(workspace, state, { target, tip }, tell)
}

/** What a merge would come to, made and verified in a worktree that is thrown away. Nothing is written to the log. */
async function tryOut(
  context: MergeContext,
  state: DelegateState,
  tip: string,
  onto: string,
): Promise<MergeOutcome> {
  const { workspace } = context
  const tree = treeToTryIn(workspace.place, state.id)
  try {
    const made = await makeMerge(context, state, { tree, tip, onto })
    if (made.is === 'held') return waiting(state, made.because)
    if (made.is === 'green') {
      const contradictions = await contradictionsOf(workspace, state)
      return {
        ...waiting(state),
        how: 'would merge',
        ...(contradictions.length === 0 ? {} : { contradictions }),
      }
    }
    const how = made.is === 'conflict' ? 'conflicted' : 'red'
    const files = made.is === 'conflict' ? made.files : undefined
    const why = { because: made.because, next: retryCommand(state) }
    return { ...outcomeOf(state, how, why), ...defined({ files }) }
  } finally {
    removeIntegrationTree(workspace.place, tree)
  }
}

type Rejection = DelegateMove & {
  readonly to: 'conflicted' | 'failed'
  readonly because: string
  readonly target: string
}

/** What does not go into the target branch is returned for rework, until it has come back too often. */
async function reject(one: OneMerge, move: Rejection): Promise<MergeOutcome> {
  const { context, log, state } = one
  const { options, workspace } = context
  const { id, order, run } = state
  const { because, files, target } = move
  log.append('delegate.moved', move)
  const how = move.to === 'conflicted' ? 'conflicted' : 'red'
  const next = retryCommand(state)
  const outcome = { ...outcomeOf(state, how, { because }), ...defined({ files }) }
  // Its parent hears of it when there is something for the parent to do.
  const tell = () => tellParent(workspace, delegateNow(workspace.place, id))
  if (options.sendBack === undefined) {
    await tell()
    return { ...outcome, next }
  }
  const { rejected } = delegateNow(workspace.place, id)
  if (rejected > workspace.config.delegates.sendBack) {
    const reason = `${because}; it came back ${rejected} times`
    log.append('delegate.moved', { ...move, to: 'parked', because: reason })
    await tell()
    const byHand = `git -C ${quoted(run.started.tree)} merge ${quoted(target)}, then stint merge ${order.name}`
    return { ...outcome, how: 'parked', because: reason, next: byHand }
  }
  try {
    await options.sendBack(id)
    return { ...outcome, isSentBack: true }
  } catch (error) {
    await tell()
    return {
      ...outcome,
      because: `${because}; it could not be sent back: ${reasonOf(error)}`,
      next,
    }
  }
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

export type Made =
  | { readonly is: 'green'; readonly to: string }
  | { readonly is: 'conflict'; readonly files: readonly string[]; readonly because: string }
  | ({ readonly is: 'red' } & Red)
  | { readonly is: 'held'; readonly because: string }

/**
 * The merge, in its own tree, verified. It is a commit of its own also where the target could just go on to the delegate's last: those
 * before that one were never verified, and would be what the target was at, one after the other, for whoever looks for a mistake there.
 */
export async function makeMerge(
  context: MergeContext,
  state: DelegateState,
  { tree, tip, onto }: { readonly tree: string; readonly tip: string; readonly onto: string },
): Promise<Made> {
  const { place } = context.workspace
  const { name, target, what } = state.order
  makeTree(place, tree, onto)
  refuseWhenStopped(context)
  const message = shorten(oneLine(`Merge delegate ${name}: ${what}`), 100)
  const files = mergeInto(tree, tip, message)
  if (files !== undefined) {
    return {
      is: 'conflict',
      files,
      because: `it conflicts with ${target} in ${files.slice(0, 8).join(', ')}`,
    }
  }
  const to = headOf(tree).commit
  await context.at('merge made')
  // Before the long part, and once more when it is over.
  const because = obstacleTo(place, target)
  if (because !== undefined) return { is: 'held', because }
  const red = await verifyMerge(context, state, { tree, to })
  return red === undefined ? { is: 'green', to } : { is: 'red', ...red }
}

export interface Red {
  readonly because: string
  readonly verify: NonNullable<DelegateMove['verify']>
}

/** Runs set-up and verify command in a tree at a commit. Undefined when all is green. */
export async function verifyMerge(
  context: MergeContext,
  state: DelegateState,
  { tree, to }: { readonly tree: string; readonly to: string },
): Promise<Red | undefined> {
  const { emit, workspace } = context
  const about = { delegate: state.order.name }
  const verify = await verifyCommand(workspace, state)
  if (verify === undefined) {
    sayOnce(
      context,
      'there is no verify command: what is merged was not tried on the target (verify in .sessions/config.yaml)',
    )
    return undefined
  }
  const run = async (command: string) => {
    const result = await runVerify(command, {
      tree,
      verifyMs: resolveOptions(workspace, state.run.started.options).verifyMs,
      // As it was proved in: a port or a database of its own is needed here too.
      env: {
        ...plainEnvironment(workspace.env),
        ...delegateEnvironment(state.order, tree, workspace.config.delegates),
      },
      isStopped: context.isStopped,
    })
    if (result.isStopped) throw new StintError(STOPPED, 'the merge was stopped')
    return result
  }
  const setup = workspace.config.delegates.setup ?? workspace.config.run.setup
  if (setup !== undefined) {
    emit('setup.started', { command: setup }, about)
    const result = await run(setup)
    if (!result.passed) return red(`the set-up command ${setup} ${result.ending}`, result)
  }
  const leftBefore = uncommitted(tree)
  emit('verify.started', { command: verify }, about)
  const result = await run(verify)
  const because = result.passed ? changeIn(tree, to, leftBefore) : `${verify} ${result.ending}`
  emit('verify.ended', { passed: because === undefined, seconds: result.seconds }, about)
  return because === undefined
    ? undefined
    : red(result.passed ? `after ${verify}: ${because}` : because, result)
}

/** The task's own, that of the order, or the project's. */
async function verifyCommand(
  workspace: Workspace,
  { order, run }: DelegateState,
): Promise<string | undefined> {
  const { backlog, verify } = run.started.options
  const source = order.task === undefined ? undefined : await openSource(workspace, backlog)
  const task = order.task === undefined ? undefined : (await source?.read())?.byId.get(order.task)
  const command = task?.verify ?? verify ?? workspace.config.verify
  if (command?.includes('[redacted:') !== true) return command
  throw new StintError(
    'VERIFY_REDACTED',
    'its verify command had a secret in it, which was not written down',
    `verify and merge ${run.started.branch} by hand; then stint merge ${order.name} finds it merged`,
  )
}

/** A verify command that changes what it verifies has verified something else. */
function changeIn(tree: string, to: string, leftBefore: readonly string[]): string | undefined {
  const head = headNow(tree)
  if (head?.commit !== to || head.branch !== undefined)
    return `HEAD is on ${headInWords(head)} and not at ${to.slice(0, 10)}`
  const dirty = uncommitted(tree).filter((path) => !leftBefore.includes(path))
  return dirty.length === 0 ? undefined : `not committed: ${dirty.slice(0, 8).join(', ')}`
}

function red(because: string, { command, exit, output }: VerifyResult): Red {
  return {
    because,
    verify: { command, output: cleanText(output), ...defined({ exit }) },
  }
}
