// The words that several commands share.
import {
  count,
  currentStep,
  decisionLine,
  delegateLine,
  lineOf,
  openBlockers,
  phaseLine,
  stepCounts,
  tldrOf,
} from '../../core.ts'
import type {
  Delivery,
  Drift,
  Item,
  RawEntry,
  Resumed,
  SessionRow,
  SessionState,
  Shelf,
  WaitingHandoff,
} from '../../library.ts'
import { publicSession, shortId } from '../../public.ts'
import { oneLine, shorten } from '../../text/clean.ts'
import { minute } from '../../text/times.ts'
import type { Output } from '../context/output.ts'
import { plural } from './terminal/text.ts'
import { waitingLine } from './handoff.ts'

export function progressLine(state: SessionState): string {
  const { done, total } = stepCounts(state)
  return `${done}/${total} steps`
}

/** TL;DR, progress, current step and blockers, as a resuming reader needs them. */
export function standing(state: SessionState): readonly string[] {
  const { done, total } = stepCounts(state)
  const current = currentStep(state)
  const blockers = openBlockers(state)
  const phase = phaseLine(state)
  return [
    tldrOf(state),
    '',
    ...(phase === undefined ? [] : [`Workflow: ${phase}`]),
    `Progress: ${done}/${total} steps complete`,
    `Current: ${current?.text ?? 'None'}`,
    `Blocker: ${blockers.length === 0 ? 'None' : blockers.map((blocker) => blocker.text).join('; ')}`,
  ]
}

/** `2025-01-15T10:30  a1b2c3  text` */
export function entryLine(entry: RawEntry, all: () => readonly RawEntry[]): string {
  const line = lineOf(entry, (id) => all().find((other) => other.id === id))
  const text = shorten(line.split('\n').join(' '), 100)
  return `${minute(entry.at)}  ${shortId(entry.id)}  ${entry.kind.padEnd(18)}  ${text}`.trimEnd()
}

/** Prints rows as they come, so that a hundred thousand need no more memory than ten. */
export function printList(
  rows: Iterable<SessionRow>,
  isJson: boolean | undefined,
  output: Output,
): void {
  let printed = 0
  if (isJson === true) output.line('[')
  for (const row of rows) {
    if (isJson === true) output.line(`${printed === 0 ? '' : ','}${JSON.stringify(row)}`)
    else {
      if (printed === 0)
        output.line(
          output.dim(columns('ID', 'NAME', 'STATUS', 'PROGRESS', 'UPDATED', 'BRANCH', 'OBJECTIVE')),
        )
      const steps = `${row.counts.stepsDone}/${row.counts.steps}`
      const goal = shorten(row.goal.split('\n').join(' '), 50)
      output.line(
        columns(
          shortId(row.id),
          row.name,
          row.status,
          steps,
          minute(row.updatedAt),
          row.branch ?? '',
          goal,
        ),
      )
    }
    printed += 1
  }
  if (isJson === true) output.line(']')
  else if (printed === 0) output.line('No sessions.')
}

function columns(
  ...[id = '', name = '', status = '', steps = '', updated = '', branch = '', goal = '']: string[]
): string {
  return `${id.padEnd(6)}  ${name.padEnd(24)}  ${status.padEnd(9)}  ${steps.padEnd(8)}  ${updated.padEnd(16)}  ${branch.padEnd(20)}  ${goal}`.trimEnd()
}

const LONGEST = 200

/** What hooks captured, for a person. */
export function describeActivity(state: SessionState): string {
  const { lastTurn } = state
  const parts = [
    part(
      'Requests',
      state.requests,
      ({ text, isRuling }) => `${isRuling ? '(ruling) ' : ''}${text}`,
    ),
    part('Files Changed', state.changedFiles, ({ text }) => text),
    part('Commits', state.commits, ({ text, commit }) => `${commit.slice(0, 7)} ${text}`),
    part('Test Runs', state.tests, ({ text, passed, summary }) => {
      return `${passed ? 'passed' : 'FAILED'}: ${text}${summary === undefined ? '' : ` (${oneLine(summary)})`}`
    }),
    part(
      'Agents',
      state.agents,
      ({ text, result }) => `${text}${result === undefined ? '' : `: ${result}`}`,
    ),
    part('Delegates', state.delegates, delegateLine),
    part('Conversations', state.conversations, ({ text, harness, reason }) => {
      return `${harness} ${text}${reason === undefined ? '' : ` (ended: ${reason})`}`
    }),
    ...(lastTurn === undefined ? [] : [lastSaid(lastTurn)]),
  ].filter((text) => text !== '')
  return parts.length === 0 ? 'No hook has noticed anything in this session.' : parts.join('\n\n')
}

function part<T extends Item>(title: string, shelf: Shelf<T>, line: (item: T) => string): string {
  if (count(shelf) === 0) return ''
  const earlier =
    shelf.earlier === 0 ? [] : [`- … and ${shelf.earlier} earlier: stint view --entries`]
  const lines = shelf.items.map(
    (item) => `- ${minute(item.at)} ${shorten(oneLine(line(item)), LONGEST)}`,
  )
  return [`## ${title}`, ...earlier, ...lines].join('\n')
}

function lastSaid({ at, said, failure, usage }: NonNullable<SessionState['lastTurn']>): string {
  const tokens =
    usage === undefined
      ? []
      : [`Context: ${usage.input + usage.cacheRead + usage.cacheWritten} tokens`]
  const failed = failure === undefined ? [] : [`Failed: ${oneLine(failure)}`]
  return [
    '## Last Turn',
    `${minute(at)} ${said === undefined ? '' : shorten(oneLine(said), 600)}`.trimEnd(),
    ...failed,
    ...tokens,
  ].join('\n')
}

/** Each text that was given, and where in the harness's transcript it stands. */
export function describeDeliveries(deliveries: readonly Delivery[]): string {
  if (deliveries.length === 0) return 'Nothing has been put before a model in this session.'
  const arrived = deliveries.filter(({ evidence }) => evidence !== undefined).length
  return [
    `${arrived} of ${deliveries.length} arrived, as the transcripts show:`,
    ...deliveries.map(line),
  ].join('\n')
}

function line({ at, conversation, event, why, mark, chars, evidence, without }: Delivery): string {
  const proof =
    evidence === undefined ? `✗ ${without}` : `✓ line ${evidence.line} of ${evidence.file}`
  return `${minute(at)}  ${conversation.slice(0, 8)}  ${event}${why === '' ? '' : ` (${why})`}  ${chars} characters  [stint:${mark}]  ${proof}`
}

/** All that a program needs to go on, so that nothing else has to be read. */
export function resumedJson(
  { reading: { state }, drift, project }: Resumed,
  waiting: readonly WaitingHandoff[] = [],
) {
  return {
    ...publicSession(state),
    drift,
    ...(waiting.length === 0 ? {} : { waitingHandoffs: waiting.map(waitingJson) }),
    project,
  }
}

function waitingJson({ name, ...handoff }: WaitingHandoff) {
  return { ...handoff, sessionName: name }
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
