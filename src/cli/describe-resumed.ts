import { plural } from './text.ts'
import type { Drift } from '../git/status.ts'
import type { WaitingHandoff } from '../project/handoff/waiting.ts'
import type { Resumed } from '../project/lifecycle/resume.ts'
import { minute } from '../text/times.ts'
import { decisionLine } from '../document/progress.ts'
import { sessionJson, standing } from './describe.ts'
import { waitingLine } from './describe-handoff.ts'
import type { Output } from './output.ts'

/** All that a program needs to go on, so that nothing else has to be read. */
export function resumedJson(
  { reading: { state }, drift, project }: Resumed,
  waiting: readonly WaitingHandoff[] = [],
) {
  return {
    ...sessionJson(state),
    objective: state.goal,
    key_context: state.key.items.map((item) => item.text),
    decisions: state.decisions.items.map(({ text, context, options, choice, rationale, at }) => ({
      title: text,
      context,
      options,
      choice,
      rationale,
      at,
    })),
    discoveries: state.discoveries.items.map(({ text, gotcha, at }) => ({ text, gotcha, at })),
    drift,
    handoffs_waiting: waiting.length === 0 ? undefined : waiting,
    resume_commands: state.commands.items.map((item) => item.text),
    project,
  }
}

export function describeResumed(
  { reading: { state }, before, drift, project }: Resumed,
  output: Output,
  waiting: readonly WaitingHandoff[] = [],
): string {
  const after = state.compactions === 0 ? '' : ` (after ${plural(state.compactions, 'compaction')})`
  const lines = [
    `📋 ${output.bold(`Resuming Session: ${state.name}`)}${after}`,
    `   ID: ${state.id}`,
    `   Last worked on: ${minute(before.updatedAt)}${before.pauseNote === undefined ? '' : `, paused: ${before.pauseNote}`}`,
    ...waiting.map((one) => `   ${waitingLine(one)}`),
    '',
    '   ## Where You Left Off',
    ...standing(before).map((line) => (line === '' ? '' : `   ${line}`)),
  ]
  const part = (title: string, items: readonly string[]) => {
    if (items.length > 0)
      lines.push('', `   ## ${title}`, ...items.map((item) => `   - ${item.split('\n').join(' ')}`))
  }
  part('Objective', state.goal === '' ? [] : [state.goal])
  part(
    'Key Context',
    state.key.items.map((item) => item.text),
  )
  part('Decisions', state.decisions.items.slice(-5).map(decisionLine))
  part(
    'Discoveries',
    state.discoveries.items.slice(-5).map((item) => item.text),
  )
  part(
    'Next Steps',
    state.next.items.map((item) => item.text),
  )
  part('Since Then', driftLines(drift))
  if (state.commands.items.length > 0) {
    lines.push(
      '',
      '   ## Resume Commands (shown, not run)',
      ...state.commands.items.map((item) => `   $ ${item.text}`),
    )
  }
  if (project !== undefined && project !== '') {
    lines.push(
      '',
      '   ## Project (as read from its repository)',
      ...project.split('\n').map((line) => `   ${line}`),
    )
  }
  return lines.join('\n')
}

function driftLines(drift: Drift | undefined): readonly string[] {
  if (drift === undefined) return []
  const lines: string[] = []
  if (drift.hasBranchChanged && drift.branchThen !== undefined) {
    lines.push(
      `the session was on ${drift.branchThen}, you are on ${drift.branchNow ?? 'no branch'}: git switch ${drift.branchThen} goes back`,
    )
  }
  if (drift.history === 'rewritten')
    lines.push(
      `its commit ${drift.from.slice(0, 7)} is on no branch any more (amended, rebased or reset)`,
    )
  if (drift.history === 'missing')
    lines.push(`its commit ${drift.from.slice(0, 7)} is not in this repository`)
  if (drift.history === 'elsewhere')
    lines.push(`its commit ${drift.from.slice(0, 7)} is not on this branch`)
  if (drift.commits > 0)
    lines.push(`${plural(drift.commits, 'new commit')}: ${drift.subjects.slice(0, 5).join('; ')}`)
  if (drift.dirty > 0) lines.push(`${plural(drift.dirty, 'uncommitted path')}`)
  return lines.length === 0 ? ['no new commits, nothing uncommitted'] : lines
}
