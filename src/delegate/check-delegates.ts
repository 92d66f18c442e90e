// What delegates left: processes, worktrees, work that waits for somebody. It is said with what to do about it, and left alone.
import { existsSync } from 'node:fs'
import { isAlive } from '../harness/process/strays.ts'
import { type Check, Findings, plural } from '../project/doctor/report.ts'
import type { Place } from '../project/place.ts'
import { describeTree } from '../run/check-runs.ts'
import type { DelegateState } from './delegate-state.ts'
import { allDelegates, isAdrift, isAttended, isUnsettled } from './delegates.ts'

export function checkDelegates(place: Place): readonly Check[] {
  const all = allDelegates(place)
  const findings = new Findings('delegates')
  for (const state of all) for (const finding of aboutOne(place, state)) findings[finding.how](finding.text)
  const going = all.filter(isAttended).length
  const waiting = all.filter((state) => isUnsettled(state) && !isAttended(state)).length
  const ok = [
    going === 0 ? 'none is at work' : `${going} at work`,
    ...(waiting === 0 ? [] : [`${waiting} to be merged or discarded`]),
  ]
  return [findings.check(ok.join(', '), (count) => plural(count, 'remark'))]
}

function aboutOne(place: Place, state: DelegateState): readonly { how: 'note' | 'problem'; text: string }[] {
  const { order, run, status } = state
  const { name } = order
  const { base, tree } = run.started
  const left = isAttended(state) ? [] : run.conversations.map(({ opened }) => opened.process).filter(isAlive)
  return [
    ...(isAdrift(state)
      ? [
          {
            how: 'note' as const,
            text: `${name}: nobody is ${status === 'merging' ? 'merging' : 'working on'} it any more; stint delegates settles it`,
          },
        ]
      : []),
    ...left.map(({ pid }) => ({
      how: 'problem' as const,
      text: `${name}: process ${pid} of its agent is still there; stint delegate stop ${name} ends it`,
    })),
    ...(!isUnsettled(state) && existsSync(tree)
      ? [{ how: 'note' as const, text: `${tree} of ${name}, which is ${status}: ${describeTree(place, tree, base)}` }]
      : []),
  ]
}
