// One delegate's work goes into its target, or is told why not. Every step is in the delegate's log before it is made.
import { QUIETLY } from '../../git/working-tree.ts'
import { StintError } from '../../journal/errors.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { defined } from '../../text/defined.ts'
import type { DelegateMove } from '../delegate-order.ts'
import type { MergeOutcome } from '../delegate/contract.ts'
import { type DelegateState, delegateNow } from '../delegate/delegates.ts'
import { inTurn, takingUp } from '../delegate/in-turn.ts'
import {
  contains,
  hasCommit,
  inRepository,
  keepProved,
  provedInstead,
} from '../delegate/kept-commits.ts'
import { tellParent } from '../delegate/parent-journal.ts'
import { RunLog } from '../run-log.ts'
import { contradictionsOf } from './contradictions.ts'
import { finish, keptMerge, tidy } from './finish.ts'
import { integrationTree, removeIntegrationTree, treeToTryIn } from './integration-tree.ts'
import { makeMerge } from './make-merge.ts'
import { type MergeScene, refuseWhenStopped } from './merge-context.ts'
import {
  again,
  outcomeOf,
  proposalFor,
  reasonNotToMerge,
  reasonOf,
  retrying,
  told,
} from './outcomes.ts'
import { openPullRequest } from './pull-request.ts'
import { isOnTarget, isSameProcess } from './reconcile.ts'
import { moveTarget, targetNow } from './target.ts'

/** How often the target may go on under us before we leave it to a quieter hour. */
const ROUNDS = 3

export async function mergeOne(scene: MergeScene, state: DelegateState): Promise<MergeOutcome> {
  const { options, workspace } = scene
  const { target } = state.order
  const refusal = reasonNotToMerge(state)
  if (refusal !== undefined) {
    if (state.status === 'merged' && options.isDryRun !== true)
      tidyAgain(workspace, state, (text) => scene.tell({ type: 'said', text }))
    return outcomeOf(state, 'not ready', refusal)
  }
  const tip = tipOf(scene, state)
  if (tip === undefined) {
    return outcomeOf(state, 'not ready', {
      because: `its branch ${state.run.started.branch} is gone`,
      next: retrying(state),
    })
  }
  const onto = targetNow(workspace.place, target)
  if (onto === undefined)
    return outcomeOf(state, 'waiting', {
      because: `there is no branch ${target} any more`,
      next: again(state),
    })
  const isThere = contains(workspace.place, onto, tip)
  if (isThere && isEmpty(scene, state, tip, onto)) {
    return outcomeOf(state, 'not ready', {
      because: 'it has nothing that could be merged',
      next: retrying(state),
    })
  }
  if (options.isDryRun === true) return tryOut(scene, state, tip, onto)
  if (options.isPullRequest === true) return openPullRequest(scene, state, tip)
  const log = new RunLog(workspace.place, state.id, workspace.config)
  try {
    return await mergeLogged(scene, log, state, tip)
  } finally {
    removeIntegrationTree(workspace.place, integrationTree(workspace.place, state.id))
    log.close()
  }
}

/** With an end in the log, whatever goes wrong: it is ready again, or its work is on the target and the rest is made up for later. */
async function mergeLogged(
  scene: MergeScene,
  log: RunLog,
  state: DelegateState,
  tip: string,
): Promise<MergeOutcome> {
  try {
    return (
      (await mergeInRounds(scene, log, state, tip)) ??
      backToReady(scene, log, state, tip, 'the target goes on faster than this is verified')
    )
  } catch (error) {
    const outcome = outcomeInSpiteOf(error, scene, log, state, tip)
    if (error instanceof StintError) return outcome
    throw error
  }
}

/** What has happened has happened: the target and the log decide, and not what went wrong behind them. */
function outcomeInSpiteOf(
  error: unknown,
  scene: MergeScene,
  log: RunLog,
  state: DelegateState,
  tip: string,
): MergeOutcome {
  const { merge } = delegateNow(scene.workspace.place, state.id)
  const reason = reasonOf(error)
  if (merge?.landing === undefined || !isOnTarget(scene.workspace, merge.landing))
    return backToReady(scene, log, state, tip, reason)
  const because = `it is on ${merge.landing.target}, but its journal could not be told: ${reason}`
  return outcomeOf(state, 'waiting', { because, next: again(state) })
}

/** Undefined when the target has gone on in every round. */
async function mergeInRounds(
  scene: MergeScene,
  log: RunLog,
  state: DelegateState,
  tip: string,
): Promise<MergeOutcome | undefined> {
  const { at, merger, options, workspace } = scene
  const { place } = workspace
  const { target } = state.order
  for (let round = 1; round <= ROUNDS; round += 1) {
    refuseWhenStopped(scene)
    const onto = targetNow(place, target)
    if (onto === undefined)
      return backToReady(scene, log, state, tip, `there is no branch ${target} any more`)
    const tree = integrationTree(place, state.id)
    const begun = await inTurn(place, takingUp(state.id), () => {
      const now = delegateNow(place, state.id)
      // Somebody may have begun it again or given it up since it was looked at.
      const refusal = isStillOurs(scene, now) ? undefined : reasonNotToMerge(now)
      if (refusal === undefined) log.append('merge.begun', { target, onto, tip, merger, tree })
      return refusal
    })
    if (begun !== undefined) return outcomeOf(state, 'not ready', begun)
    await at('begun')
    if (contains(place, onto, tip)) return landed(scene, log, state, { commit: onto, tip })
    const made = await makeMerge(scene, state, { tree, tip, onto })
    const now = delegateNow(place, state.id)
    if (!isStillOurs(scene, now))
      return outcomeOf(state, 'not ready', { because: `it is ${now.status} now` })
    if (made.is === 'held') return backToReady(scene, log, state, tip, made.because)
    if (made.is === 'conflict') {
      return reject(scene, log, state, {
        to: 'conflicted',
        target,
        onto,
        files: made.files,
        because: made.because,
      })
    }
    if (made.is === 'red')
      return reject(scene, log, state, {
        to: 'failed',
        target,
        onto,
        verify: made.verify,
        because: made.because,
      })
    await at('verified')
    const contradictions = await contradictionsOf(workspace, state)
    refuseWhenStopped(scene)
    if (
      options.review !== undefined &&
      !(await options.review(
        proposalFor(scene, state, { from: onto, to: made.to, contradictions }),
      ))
    ) {
      return {
        ...backToReady(scene, log, state, tip, 'refused in review'),
        how: 'refused',
        ...told(contradictions),
      }
    }
    refuseWhenStopped(scene)
    inRepository(place, ...QUIETLY, 'update-ref', keptMerge(state.id), made.to)
    await at('kept')
    const then = delegateNow(place, state.id)
    if (!isStillOurs(scene, then))
      return outcomeOf(state, 'not ready', { because: `it is ${then.status} now` })
    log.append('merge.landing', { target, from: onto, to: made.to })
    await at('landing')
    const moved = moveTarget(place, {
      target,
      from: onto,
      to: made.to,
      note: `stint: merge delegate ${state.order.name}`,
    })
    if (moved.is === 'held') return backToReady(scene, log, state, tip, moved.because)
    if (moved.is === 'gone on') continue
    await at('landed')
    const outcome = await landed(scene, log, delegateNow(place, state.id), { commit: made.to, tip })
    return { ...outcome, ...told(contradictions) }
  }
  return undefined
}

/** Its work is on the target: now, or already, because somebody merged it by hand. */
async function landed(
  { at, tell, workspace }: MergeScene,
  log: RunLog,
  state: DelegateState,
  { commit, tip }: { readonly commit: string; readonly tip: string },
): Promise<MergeOutcome> {
  const say = (text: string) => tell({ type: 'said', text })
  await finish({ workspace, say, at }, log, state, { target: state.order.target, commit, tip })
  return { ...outcomeOf(state, 'merged'), commit }
}

/** Nothing is wrong with it; it stays as it is for the next time. What somebody else has made of it meanwhile stands. */
function backToReady(
  scene: MergeScene,
  log: RunLog,
  state: DelegateState,
  tip: string,
  because: string,
): MergeOutcome {
  if (isStillOurs(scene, delegateNow(scene.workspace.place, state.id))) {
    keepProved(scene.workspace.place, state.id, tip)
    log.append('delegate.moved', { ...state.ready, to: 'ready', because, commit: tip })
  }
  return outcomeOf(state, 'waiting', { because, next: again(state) })
}

function isStillOurs({ merger }: MergeScene, { status, merge }: DelegateState): boolean {
  return status === 'merging' && merge !== undefined && isSameProcess(merge.merger, merger)
}

/** What is to be merged: its branch as it is now, which need not be what was proved; or what was proved, where the branch has nothing. */
function tipOf(
  { tell, workspace }: MergeScene,
  { order, ready, run }: DelegateState,
): string | undefined {
  const { place } = workspace
  const { branch } = run.started
  const tip = targetNow(place, branch)
  const proved = ready?.commit
  const instead = provedInstead(place, { tip, base: run.started.base, proved })
  if (instead !== undefined) {
    const what = tip === undefined ? 'gone' : 'back where it began'
    tell({
      type: 'said',
      text: `${order.name}: ${branch} is ${what}; the commit that was proved is merged`,
    })
    return instead
  }
  if (tip !== undefined && proved !== undefined && tip !== proved) {
    tell({
      type: 'said',
      text: `${order.name}: ${branch} is not where it was proved any more; it is verified as it is now`,
    })
  }
  return tip
}

/** Nothing of its own is on its branch, and what was proved once is not on the target either. */
function isEmpty(
  { workspace: { place } }: MergeScene,
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

/** For one whose merging process died between its last word and putting things away. */
export function tidyAgain(
  workspace: Workspace,
  state: DelegateState,
  say: (text: string) => void,
): void {
  const { branch } = state.run.started
  const target = state.move?.target ?? state.order.target
  const tip = targetNow(workspace.place, branch)
  if (tip !== undefined) tidy(workspace, state, { target, tip }, say)
}

/** What a merge would come to, made and verified in a tree that nobody sees. Nothing is written down, and nothing is left. */
export async function tryOut(
  scene: MergeScene,
  state: DelegateState,
  tip: string,
  onto: string,
): Promise<MergeOutcome> {
  const { workspace } = scene
  const { place } = workspace
  if (contains(place, onto, tip))
    return outcomeOf(state, 'would merge', { because: `it is on ${state.order.target} already` })
  const tree = treeToTryIn(place, state.id)
  try {
    const made = await makeMerge(scene, state, { tree, tip, onto })
    switch (made.is) {
      case 'held':
        return outcomeOf(state, 'waiting', { because: made.because, next: again(state) })
      case 'conflict':
        return {
          ...outcomeOf(state, 'conflicted', { because: made.because, next: retrying(state) }),
          files: made.files,
        }
      case 'red':
        return outcomeOf(state, 'red', { because: made.because, next: retrying(state) })
      case 'green':
        return {
          ...outcomeOf(state, 'would merge', { next: again(state) }),
          ...told(await contradictionsOf(workspace, state)),
        }
    }
  } finally {
    removeIntegrationTree(place, tree)
  }
}

type Rejection = DelegateMove & {
  readonly to: 'conflicted' | 'failed'
  readonly because: string
  readonly target: string
}

export async function reject(
  scene: MergeScene,
  log: RunLog,
  state: DelegateState,
  move: Rejection,
): Promise<MergeOutcome> {
  const { options, workspace } = scene
  const { id, order, run } = state
  const { because, files, target } = move
  log.append('delegate.moved', move)
  const outcome: MergeOutcome = {
    delegate: id,
    name: order.name,
    how: move.to === 'conflicted' ? 'conflicted' : 'red',
    target,
    because,
    ...defined({ files }),
  }
  const retry = `stint delegate retry ${order.name}`
  // Whoever it works for hears of it when there is something for them to do.
  const tell = () => tellParent(workspace, delegateNow(workspace.place, id))
  if (options.sendBack === undefined) {
    await tell()
    return { ...outcome, next: retry }
  }
  const { rejected } = delegateNow(workspace.place, id)
  if (rejected > workspace.config.delegates.sendBack) {
    const reason = `${because}; it came back ${rejected} times`
    log.append('delegate.moved', { ...move, to: 'parked', because: reason })
    await tell()
    return {
      ...outcome,
      how: 'parked',
      because: reason,
      next: byHand(run.started.tree, target, order.name),
    }
  }
  try {
    await options.sendBack(id)
    return { ...outcome, isSentBack: true }
  } catch (error) {
    await tell()
    return {
      ...outcome,
      because: `${because}; it could not be sent back: ${reasonOf(error)}`,
      next: retry,
    }
  }
}

/** The commands by which a person takes it up. */
export function byHand(tree: string, target: string, name: string): string {
  return `git -C ${quoted(tree)} merge ${quoted(target)}, then stint merge ${name}`
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
