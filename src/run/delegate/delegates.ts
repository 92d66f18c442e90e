// The delegates of a project, from their logs.
import { isAlive } from '../../harness/process/strays.ts'
import { StintError } from '../../journal/errors.ts'
import { shortId } from '../../journal/ids.ts'
import type { Place } from '../../project/store/place.ts'
import { runIds } from '../../project/store/run-files.ts'
import { readRun } from '../run-log.ts'
import { type DelegateState, foldDelegate } from './delegate-state.ts'

/** The oldest first. */
export function allDelegates(place: Place): readonly DelegateState[] {
  return runIds(place).flatMap((id) => foldDelegate(id, readRun(place, id)) ?? [])
}

/** The delegate as its log has it now. */
export function delegateNow(place: Place, id: string): DelegateState {
  const state = foldDelegate(id, readRun(place, id))
  if (state !== undefined) return state
  throw new StintError('NO_DELEGATE', `${id} is no delegate`, 'stint delegates lists them')
}

/** The one that a name means: its name, its id, or a part of either that only it has. */
export function findDelegate(place: Place, name: string): DelegateState {
  const all = allDelegates(place)
  const word = name.trim().toLowerCase()
  const exact = all.filter(({ id, order }) => order.name === word || id === word)
  const found =
    exact.length > 0
      ? exact
      : all.filter(
          ({ id, order }) => word !== '' && (order.name.includes(word) || id.includes(word)),
        )
  const [only, ...others] = found
  if (only === undefined)
    throw new StintError(
      'NO_DELEGATE',
      `there is no delegate "${name}"`,
      'stint delegates lists them',
    )
  if (others.length > 0) {
    throw new StintError(
      'DELEGATE_AMBIGUOUS',
      `"${name}" fits ${found.length} delegates: ${found.map(({ order }) => order.name).join(', ')}`,
      'name it in full; stint delegates lists them',
    )
  }
  return only
}

/** The one that is called just that, for what is not undone by the way: its name, its id, or the end of that which is shown. */
export function findExactly(place: Place, name: string): DelegateState {
  const found = findDelegate(place, name)
  const word = name.trim().toLowerCase()
  if ([found.order.name, found.id, shortId(found.id)].includes(word)) return found
  throw new StintError(
    'DELEGATE_INEXACT',
    `"${name}" is only a part of what a delegate is called, which may mean another: it fits ${found.order.name} (${shortId(found.id)})`,
    `say it in full if it is that one: ${found.order.name}`,
  )
}

/** Whether somebody works on it or merges it now. */
export function isAttended({ status, merge, run }: DelegateState): boolean {
  if (status === 'merging') return merge !== undefined && isAlive(merge.merger)
  return status === 'running' && run.ended === undefined && isAlive(run.runner)
}

/** It is called running or merging, and whoever did that is gone. */
export function isAdrift(state: DelegateState): boolean {
  return (state.status === 'running' || state.status === 'merging') && !isAttended(state)
}

/** Its work is neither in the target nor given up. */
export function isUnsettled({ order, status }: DelegateState): boolean {
  // The report of one that only reads is delivered when it is ready.
  return status !== 'merged' && status !== 'discarded' && !(order.isReadOnly && status === 'ready')
}
