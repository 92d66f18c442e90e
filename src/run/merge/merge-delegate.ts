// Merges one delegate into its target branch. Every step is logged before it is made.
import { tryGit } from '../../git/run-git.ts'
import { StintError } from '../../journal/errors.ts'
import type { ProjectPaths } from '../../project/store/project-paths.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { requireRepository } from '../../project/store/worktrees.ts'
import { requireConsent } from '../../project/trust/trust.ts'
import { cleanText, oneLine, shorten } from '../../text/clean.ts'
import { defined } from '../../text/defined.ts'
import { plainEnvironment } from '../attempt/run-context.ts'
import type { MergeProposal } from '../delegate/delegate-row.ts'
import { delegateEnvironment } from '../delegate/delegate-context.ts'
import {
  type DelegateState,
  delegateClaim,
  readDelegate,
  withClaim,
  withRunLog,
} from '../delegate/delegates.ts'
import { isSameProcess } from '../loop/claims.ts'
import {
  containsCommit,
  hasCommit,
  provedCommitIfLost,
  runGitInRepository,
  writeInRepository,
} from '../delegate/delegate-commits.ts'
import { reportToParent } from '../delegate/parent-journal.ts'
import type { DelegateStatusChange, MergeOutcome } from '../entries.ts'
import { resolveOptions } from '../options.ts'
import { allowCommand, describeProtected, findProtectedChanges } from '../proof/protected-paths.ts'
import { runVerify } from '../proof/prove.ts'
import type { RunLog } from '../run-log.ts'
import { openBacklogSource } from '../sources/open-backlog-source.ts'
import { describeHead, readTreeHead, requireHead, uncommittedPaths } from '../worktree/run-tree.ts'
import { findContradictions } from './contradictions.ts'
import {
  cleanUpMerged,
  finishMerge,
  isOnTarget,
  mergeRef,
  recordReadyAgain,
} from './finish-merge.ts'
import {
  type MergeContext,
  boundedReason,
  emitMessage,
  mergeStoppedError,
  reasonNotToMerge,
  refuseWhenStopped,
  retryCommand,
  toMergeOutcome,
  waitingOutcome,
} from './merge-context.ts'
import { openPullRequest } from './pull-request.ts'
import {
  dryRunTreePath,
  integrationTree,
  makeIntegrationTree,
  mergeInto,
  moveTarget,
  reasonTargetCannotMove,
  removeIntegrationTree,
  targetTip,
} from './target-branch.ts'

const MAX_ROUNDS = 3

interface MergeState {
  readonly context: MergeContext
  readonly log: RunLog
  readonly state: DelegateState
  readonly tip: string
}

export async function mergeDelegate(
  context: MergeContext,
  state: DelegateState,
): Promise<MergeOutcome> {
  const { options, workspace } = context
  const { paths } = workspace
  const { target } = state.order
  if (options.isDryRun !== true) requireConsent(workspace)
  const refusal = reasonNotToMerge(state, options)
  if (refusal !== undefined) {
    if (state.status === 'merged' && options.isDryRun !== true)
      cleanUpMergedAgain(workspace, state, (text) => emitMessage(context, text))
    return toMergeOutcome(state, 'not ready', refusal)
  }
  const next = retryCommand(state)
  const tip = tipToMerge(context, state)
  if (tip === undefined) {
    const because = `its branch ${state.run.started.branch} is gone`
    return toMergeOutcome(state, 'not ready', { because, next })
  }
  const onto = targetTip(paths, target)
  if (onto === undefined) return waitingOutcome(state, `there is no branch ${target} any more`)
  const isThere = containsCommit(paths, onto, tip)
  if (isThere && isEmpty(paths, state, tip, onto))
    return toMergeOutcome(state, 'not ready', {
      because: 'it has nothing that could be merged',
      next,
    })
  const unagreed = isThere ? [] : await protectedChanges(context, { onto, tip })
  if (unagreed.length > 0) return protectedOutcome(state, unagreed)
  if (options.isDryRun === true)
    return isThere
      ? toMergeOutcome(state, 'would merge', { because: `it is on ${target} already` })
      : dryRunMerge(context, state, tip, onto)
  if (options.isPullRequest === true) return openPullRequest(context, state, tip)
  return withRunLog(workspace, state.id, async (log) => {
    const one = { context, log, state, tip }
    try {
      return await mergeInRounds(one)
    } catch (error) {
      const outcome = outcomeAfterError(error, one)
      if (error instanceof StintError) return outcome
      throw error
    } finally {
      removeIntegrationTree(paths, integrationTree(paths, state.id))
    }
  })
}

/** Whatever failed, the target branch and the log decide what happened. */
function outcomeAfterError(error: unknown, one: MergeState): MergeOutcome {
  const { paths } = one.context.workspace
  const { landing } = readDelegate(paths, one.state.id).merge ?? {}
  const reason = boundedReason(error)
  if (landing === undefined || !isOnTarget(paths, landing)) return backToReady(one, reason)
  const because = `it is on ${landing.target}, but its journal could not be told: ${reason}`
  return waitingOutcome(one.state, because)
}

async function mergeInRounds(one: MergeState): Promise<MergeOutcome> {
  const { context, log, state, tip } = one
  const { afterStep, merger, options, workspace } = context
  const { paths } = workspace
  const { id, order } = state
  const { target } = order
  const tree = integrationTree(paths, id)
  for (let round = 1; round <= MAX_ROUNDS; round += 1) {
    refuseWhenStopped(context)
    const onto = targetTip(paths, target)
    if (onto === undefined) return backToReady(one, `there is no branch ${target} any more`)
    const refusal = await withClaim(paths, delegateClaim(id), () => {
      // Another command may have started or discarded it meanwhile.
      const because = isOurs(one) ? undefined : reasonNotToMerge(readDelegate(paths, id), options)
      if (because === undefined) log.append('merge.begun', { target, onto, tip, merger, tree })
      return because
    })
    if (refusal !== undefined) return toMergeOutcome(state, 'not ready', refusal)
    await afterStep('begun')
    if (containsCommit(paths, onto, tip)) return finishLanded(one, state, onto)
    const made = await makeMerge(context, state, { tree, tip, onto })
    if (!isOurs(one)) return changedOutcome(one)
    if ('held' in made) return backToReady(one, made.held)
    if ('because' in made) return reject(one, { ...made, target, onto })
    await afterStep('verified')
    const contradictions = await findContradictions(workspace, state)
    const more = contradictions.length === 0 ? {} : { contradictions }
    refuseWhenStopped(context)
    const { commit: to } = made
    const proposal = () => proposalFor(paths, state, { from: onto, to, contradictions })
    if (options.review !== undefined && !(await options.review(proposal())))
      return { ...backToReady(one, 'refused in review'), how: 'refused', ...more }
    refuseWhenStopped(context)
    writeInRepository(paths, ['update-ref', mergeRef(id), to])
    await afterStep('kept')
    if (!isOurs(one)) return changedOutcome(one)
    log.append('merge.landing', { target, from: onto, to })
    await afterStep('landing')
    const note = `stint: merge delegate ${order.name}`
    const moved = moveTarget(paths, { target, from: onto, to, note })
    if (moved.is === 'held') return backToReady(one, moved.because)
    if (moved.is === 'gone on') continue
    await afterStep('landed')
    return { ...(await finishLanded(one, readDelegate(paths, id), to)), ...more }
  }
  return backToReady(one, 'the target goes on faster than this is verified')
}

async function finishLanded(
  { context, log, tip }: MergeState,
  state: DelegateState,
  commit: string,
) {
  const { afterStep, workspace } = context
  const { target } = state.order
  const say = (text: string) => emitMessage(context, text)
  await finishMerge({ workspace, say, afterStep }, log, state, { target, commit, tip })
  return { ...toMergeOutcome(state, 'merged'), commit }
}

/** Leaves it ready for the next merge, unless another command has changed it meanwhile. */
function backToReady(one: MergeState, because: string): MergeOutcome {
  const { context, log, state, tip } = one
  if (isOurs(one)) recordReadyAgain(context.workspace.paths, log, state, { because, commit: tip })
  return waitingOutcome(state, because)
}

function changedOutcome({ context, state }: MergeState): MergeOutcome {
  const { status } = readDelegate(context.workspace.paths, state.id)
  return toMergeOutcome(state, 'not ready', { because: `it is ${status} now` })
}

function isOurs({ context, state }: MergeState): boolean {
  const { status, merge } = readDelegate(context.workspace.paths, state.id)
  return status === 'merging' && merge !== undefined && isSameProcess(merge.merger, context.merger)
}

function tipToMerge(context: MergeContext, { order, ready, run }: DelegateState) {
  const { paths } = context.workspace
  const { base, branch } = run.started
  const tip = targetTip(paths, branch)
  const proved = ready?.commit
  const instead = provedCommitIfLost(paths, { tip, base, proved })
  if (instead !== undefined) {
    const what = tip === undefined ? 'gone' : 'back where it began'
    emitMessage(
      context,
      `${order.name}: ${branch} is ${what}; the commit that was proved is merged`,
    )
    return instead
  }
  if (tip !== undefined && proved !== undefined && tip !== proved)
    emitMessage(
      context,
      `${order.name}: ${branch} is not where it was proved any more; it is verified as it is now`,
    )
  return tip
}

/** Of its own, so what it merged from its target does not count. */
async function protectedChanges(
  { options, workspace }: MergeContext,
  { onto, tip }: { onto: string; tip: string },
): Promise<readonly string[]> {
  // Unrelated histories have none; the merge itself reports that.
  const base = tryGit(requireRepository(workspace.paths), ['merge-base', onto, tip]) ?? onto
  const from = base.trim()
  const allowed = defined({ allowed: options.allowProtected })
  return findProtectedChanges(workspace, { from, to: tip }, allowed)
}

function protectedOutcome(state: DelegateState, paths: readonly string[]): MergeOutcome {
  const because = `${describeProtected(paths)}, which need your agreement; its work is kept on ${state.run.started.branch}`
  return waitingOutcome(state, because, allowCommand(`stint merge ${state.order.name}`, paths))
}

/** For a branch the target contains: it has no commits of its own, and its proved commit is not on the target either. */
function isEmpty(
  paths: ProjectPaths,
  { ready, run }: DelegateState,
  tip: string,
  onto: string,
): boolean {
  const proved = ready?.commit
  const isProvedThere =
    proved !== undefined && hasCommit(paths, proved) && containsCommit(paths, onto, proved)
  return !isProvedThere && containsCommit(paths, run.started.base, tip)
}

export function cleanUpMergedAgain(
  workspace: Workspace,
  state: DelegateState,
  say: (text: string) => void,
): void {
  const target = state.move?.target ?? state.order.target
  const tip = targetTip(workspace.paths, state.run.started.branch)
  if (tip !== undefined) cleanUpMerged(workspace, state, { target, tip }, say)
}

async function dryRunMerge(
  context: MergeContext,
  state: DelegateState,
  tip: string,
  onto: string,
): Promise<MergeOutcome> {
  const { workspace } = context
  const tree = dryRunTreePath(workspace.paths, state.id)
  try {
    const made = await makeMerge(context, state, { tree, tip, onto })
    if ('held' in made) return waitingOutcome(state, made.held)
    if ('because' in made) return { ...rejectionOutcome(state, made), next: retryCommand(state) }
    const contradictions = await findContradictions(workspace, state)
    const more = contradictions.length === 0 ? {} : { contradictions }
    return { ...waitingOutcome(state), how: 'would merge', ...more }
  } finally {
    removeIntegrationTree(workspace.paths, tree)
  }
}

function rejectionOutcome(state: DelegateState, { to, because, files }: Rejection): MergeOutcome {
  const how = to === 'conflicted' ? to : 'red'
  return { ...toMergeOutcome(state, how, { because }), ...defined({ files }) }
}

async function reject(
  { context, log, state }: MergeState,
  move: Rejection & { target: string; onto: string },
): Promise<MergeOutcome> {
  const { options, workspace } = context
  const { id, order, run } = state
  const { because, target } = move
  log.append('delegate.moved', move)
  const next = retryCommand(state)
  const outcome = rejectionOutcome(state, move)
  // A rejection is reported to the parent only when someone has to act on it.
  const report = () => reportToParent(workspace, readDelegate(workspace.paths, id))
  if (options.sendBack === undefined) {
    await report()
    return { ...outcome, next }
  }
  const { rejected } = readDelegate(workspace.paths, id)
  if (rejected > workspace.config.delegates.sendBack) {
    const reason = `${because}; it came back ${rejected} times`
    log.append('delegate.moved', { ...move, to: 'parked', because: reason })
    await report()
    const byHand = `git -C ${shellQuote(run.started.tree)} merge ${shellQuote(target)}, then stint merge ${order.name}`
    return { ...outcome, how: 'parked', because: reason, next: byHand }
  }
  try {
    await options.sendBack(id)
    return { ...outcome, isSentBack: true }
  } catch (error) {
    await report()
    const reason = `${because}; it could not be sent back: ${boundedReason(error)}`
    return { ...outcome, because: reason, next }
  }
}

function shellQuote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

function proposalFor(
  paths: ProjectPaths,
  { id, order, ready }: DelegateState,
  change: Pick<MergeProposal, 'from' | 'to' | 'contradictions'>,
): MergeProposal {
  const { name, target } = order
  const how = ['--stat=100', '--no-color', '--no-ext-diff', '-M']
  const stat = runGitInRepository(paths, 'diff-tree', ...how, change.from, change.to).trimEnd()
  return { delegate: id, name, target, ...change, stat, ...defined({ summary: ready?.summary }) }
}

type Rejection = Pick<DelegateStatusChange, 'files' | 'verify'> & {
  readonly to: 'conflicted' | 'failed'
  readonly because: string
}

type MadeMerge = Rejection | { readonly commit: string } | { readonly held: string }

/** Never a fast-forward: the delegate's earlier commits were not verified, and a bisect of the target would hit them. */
async function makeMerge(
  context: MergeContext,
  state: DelegateState,
  { tree, tip, onto }: { tree: string; tip: string; onto: string },
): Promise<MadeMerge> {
  const { paths } = context.workspace
  const { name, target, what } = state.order
  makeIntegrationTree(paths, tree, onto)
  refuseWhenStopped(context)
  const message = shorten(oneLine(`Merge delegate ${name}: ${what}`), 100)
  const files = mergeInto(tree, tip, message)
  if (files !== undefined) {
    const because = `it conflicts with ${target} in ${files.slice(0, 8).join(', ')}`
    return { to: 'conflicted', because, files }
  }
  const commit = requireHead(tree).commit
  await context.afterStep('merge made')
  // Checked before the slow verify command, and again after it.
  const held = reasonTargetCannotMove(paths, target)
  if (held !== undefined) return { held }
  // What lands is the merge, whatever the branch was when it was checked.
  const unagreed = await findProtectedChanges(
    context.workspace,
    { from: onto, to: commit },
    defined({ allowed: context.options.allowProtected }),
  )
  if (unagreed.length > 0) return { held: describeProtected(unagreed) }
  return (await verifyMerge(context, state, tree, commit)) ?? { commit }
}

async function verifyMerge(
  context: MergeContext,
  state: DelegateState,
  tree: string,
  commit: string,
): Promise<Rejection | undefined> {
  const { emit, emittedMessages, workspace } = context
  const { config } = workspace
  const about = { delegate: state.order.name }
  const verify = await verifyCommand(workspace, state)
  if (verify === undefined) {
    const text =
      'there is no verify command: what is merged was not tried on the target (verify in .sessions/config.yaml)'
    if (!emittedMessages.has(text)) emitMessage(context, text)
    emittedMessages.add(text)
    return undefined
  }
  const run = async (command: string) => {
    const { verifyMs } = resolveOptions(workspace, state.run.started.options)
    // With the delegate's own ports and variables, as in its proof.
    const own = delegateEnvironment(state.order, tree, config.delegates)
    const env = { ...plainEnvironment(workspace.env), ...own }
    const result = await runVerify(command, { tree, verifyMs, env, isStopped: context.isStopped })
    if (result.isStopped) throw mergeStoppedError()
    return result
  }
  const failed = (because: string, { command, exit, output }: Awaited<ReturnType<typeof run>>) => ({
    to: 'failed' as const,
    because,
    verify: { command, output: cleanText(output), ...defined({ exit }) },
  })
  const setup = config.delegates.setup ?? config.run.setup
  if (setup !== undefined) {
    emit('setup.started', { command: setup }, about)
    const result = await run(setup)
    if (!result.passed) return failed(`the set-up command ${setup} ${result.ending}`, result)
  }
  const leftBefore = uncommittedPaths(tree)
  emit('verify.started', { command: verify }, about)
  const result = await run(verify)
  const { passed, seconds } = result
  const change = passed ? findChange(tree, commit, leftBefore) : undefined
  emit('verify.ended', { passed: passed && change === undefined, seconds }, about)
  if (!passed) return failed(`${verify} ${result.ending}`, result)
  return change === undefined ? undefined : failed(`after ${verify}: ${change}`, result)
}

async function verifyCommand(workspace: Workspace, { order, run }: DelegateState) {
  const { backlog, verify } = run.started.options
  const source = order.task === undefined ? undefined : await openBacklogSource(workspace, backlog)
  const task = (await source?.read())?.byId.get(order.task ?? '')
  if (task !== undefined) requireConsent(workspace, [task])
  const command = task?.verify ?? verify ?? workspace.config.verify
  if (command?.includes('[redacted:') !== true) return command
  throw new StintError(
    'VERIFY_REDACTED',
    'its verify command had a secret in it, which was not written down',
    `verify and merge ${run.started.branch} by hand; then stint merge ${order.name} finds it merged`,
  )
}

/** If the verify command changed the tree, it verified something else than the merge. */
function findChange(tree: string, to: string, leftBefore: readonly string[]): string | undefined {
  const head = readTreeHead(tree)
  if (head?.commit !== to || head.branch !== undefined)
    return `HEAD is on ${describeHead(head)} and not at ${to.slice(0, 10)}`
  const dirty = uncommittedPaths(tree).filter((path) => !leftBefore.includes(path))
  return dirty.length === 0 ? undefined : `not committed: ${dirty.slice(0, 8).join(', ')}`
}
