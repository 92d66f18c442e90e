import {
  countItems,
  currentStep,
  decisionLine,
  delegateLine,
  entryHeadline,
  openBlockers,
  phaseLine,
  stepCounts,
  tldrOf,
} from '../../core.ts'
import { type SessionRow, publicSession, shortId } from '../../public/projection.ts'
import type { Delivery, Drift, Item, RawEntry, ItemList, WaitingHandoff } from '../../library.ts'
import type { Resumed, SessionState } from '../../core.ts'
import { oneLine, shorten } from '../../text/clean.ts'
import { printableJson } from '../../text/printable.ts'
import { formatToMinute } from '../../text/times.ts'
import type { Output } from '../context/context.ts'
import { waitingHandoffLine } from './handoff.ts'
import { markOrigin } from './origin.ts'
import { type Lines, joinLines, listLines, plural, titledSection } from './terminal/text.ts'

export function progressLine(state: SessionState): string {
  const { done, total } = stepCounts(state)
  return `${done}/${total} steps`
}

function statusLines(state: SessionState) {
  const blockers = openBlockers(state).map(({ text }) => text)
  const phase = phaseLine(state)
  return listLines(
    tldrOf(state),
    '',
    phase !== undefined && `Workflow: ${phase}`,
    `Progress: ${progressLine(state)} complete`,
    `Current: ${currentStep(state)?.text ?? 'None'}`,
    `Blocker: ${blockers.length === 0 ? 'None' : blockers.join('; ')}`,
  )
}

export function entryLine(entry: RawEntry, all: () => readonly RawEntry[]): string {
  const line = entryHeadline(entry, (id) => all().find((other) => other.id === id))
  const text = shorten(onOneLine(line), 100)
  return `${formatToMinute(entry.at)}  ${shortId(entry.id)}  ${entry.kind.padEnd(18)}  ${text}`.trimEnd()
}

function onOneLine(text: string) {
  return text.replaceAll('\n', ' ')
}

/** Prints rows as they come, so that a hundred thousand rows need little memory. */
export function printSessions(
  rows: Iterable<SessionRow>,
  isJson: boolean | undefined,
  output: Output,
  isFromElsewhere: (session: string) => boolean,
): void {
  let printed = 0
  if (isJson === true) output.line('[')
  for (const found of rows) {
    const row: SessionRow & { readonly isFromElsewhere?: true } = isFromElsewhere(found.id)
      ? { ...found, isFromElsewhere: true }
      : found
    if (isJson === true) output.line(`${printed === 0 ? '' : ','}${printableJson(row)}`)
    else {
      if (printed === 0)
        output.line(
          output.dim(
            paddedColumns('ID', 'NAME', 'STATUS', 'PROGRESS', 'UPDATED', 'BRANCH', 'OBJECTIVE'),
          ),
        )
      const steps = `${row.counts.stepsDone}/${row.counts.steps}`
      const goal = shorten(onOneLine(row.goal), 50)
      const { id, name, status, updatedAt, branch = '' } = row
      output.line(
        paddedColumns(
          shortId(id),
          name,
          status,
          steps,
          formatToMinute(updatedAt),
          branch,
          `${goal}${markOrigin(row)}`,
        ),
      )
    }
    printed += 1
  }
  if (isJson === true) output.line(']')
  else if (printed === 0) output.line('No sessions.')
}

const COLUMN_WIDTHS = [6, 24, 9, 8, 16, 20, 0]

function paddedColumns(...cells: readonly string[]) {
  return cells
    .map((cell, index) => cell.padEnd(COLUMN_WIDTHS[index]!))
    .join('  ')
    .trimEnd()
}

export function describeActivity(state: SessionState): string {
  const { lastTurn } = state
  const sections = [
    activitySection('Requests', state.requests, ({ text }) => text),
    activitySection(
      'Statements',
      state.statements,
      ({ speaker, kind, isConfirmed, text }) =>
        `${speaker}, ${kind}${isConfirmed === true ? ', confirmed' : ''}: ${text}`,
    ),
    activitySection('Files Changed', state.changedFiles, ({ text }) => text),
    activitySection(
      'Commits',
      state.commits,
      ({ text, commit }) => `${commit.slice(0, 7)} ${text}`,
    ),
    activitySection('Test Runs', state.tests, ({ text, passed, summary }) => {
      return `${passed ? 'passed' : 'FAILED'}: ${text}${summary === undefined ? '' : ` (${oneLine(summary)})`}`
    }),
    activitySection(
      'Agents',
      state.agents,
      ({ text, result }) => `${text}${result === undefined ? '' : `: ${result}`}`,
    ),
    activitySection('Delegates', state.delegates, delegateLine),
    activitySection('Conversations', state.conversations, ({ text, harness, reason }) => {
      return `${harness} ${text}${reason === undefined ? '' : ` (ended: ${reason})`}`
    }),
    lastTurn === undefined ? '' : lastTurnText(lastTurn),
  ].filter((text) => text !== '')
  return sections.length === 0
    ? 'No hook has noticed anything in this session.'
    : sections.join('\n\n')
}

function activitySection<T extends Item>(
  title: string,
  shelf: ItemList<T>,
  format: (item: T) => string,
) {
  if (countItems(shelf) === 0) return ''
  return joinLines(
    `## ${title}`,
    shelf.earlier > 0 && `- … and ${shelf.earlier} earlier: stint view --entries`,
    shelf.items.map(
      (item) => `- ${formatToMinute(item.at)} ${shorten(oneLine(format(item)), 200)}`,
    ),
  )
}

function lastTurnText(turn: NonNullable<SessionState['lastTurn']>) {
  const { at, said = '', failure, usage } = turn
  return joinLines(
    '## Last Turn',
    `${formatToMinute(at)} ${shorten(oneLine(said), 600)}`.trimEnd(),
    failure !== undefined && `Failed: ${oneLine(failure)}`,
    usage && `Context: ${usage.input + usage.cacheRead + usage.cacheWritten} tokens`,
  )
}

export function describeDeliveries(deliveries: readonly Delivery[]): string {
  if (deliveries.length === 0) return 'Nothing has been put before a model in this session.'
  const delivered = deliveries.filter(({ evidence }) => evidence !== undefined).length
  return joinLines(
    `${delivered} of ${deliveries.length} arrived, as the transcripts show:`,
    deliveries.map(({ at, conversation, event, why, mark, chars, evidence, without }) => {
      const evidenceText =
        evidence === undefined ? `✗ ${without}` : `✓ line ${evidence.line} of ${evidence.file}`
      return `${formatToMinute(at)}  ${conversation.slice(0, 8)}  ${event}${why === '' ? '' : ` (${why})`}  ${chars} characters  [stint:${mark}]  ${evidenceText}`
    }),
  )
}

export function resumedJson(
  { reading: { state }, drift, project }: Resumed,
  waiting: readonly WaitingHandoff[] = [],
) {
  return {
    ...publicSession(state),
    drift,
    waitingHandoffs:
      waiting.length === 0
        ? undefined
        : waiting.map(({ name, ...handoff }) => ({ ...handoff, sessionName: name })),
    project,
  }
}

export function describeResumed(
  { reading: { state }, before, drift, project = '' }: Resumed,
  output: Output,
  waiting: readonly WaitingHandoff[] = [],
): string {
  const compactionsText =
    state.compactions === 0 ? '' : ` (after ${plural(state.compactions, 'compaction')})`
  const pausedText = before.pauseNote === undefined ? '' : `, paused: ${before.pauseNote}`
  const listSection = (title: string, items: readonly string[]): Lines =>
    titledSection(
      `   ## ${title}`,
      items.map((item) => `   - ${onOneLine(item)}`),
    )
  const texts = (items: readonly Item[]) => items.map(({ text }) => text)
  return joinLines(
    `📋 ${output.bold(`Resuming Session: ${state.name}`)}${compactionsText}`,
    `   ID: ${state.id}`,
    `   Last worked on: ${formatToMinute(before.updatedAt)}${pausedText}`,
    waiting.map((handoff) => `   ${waitingHandoffLine(handoff)}`),
    '',
    '   ## Where You Left Off',
    statusLines(before).map((line) => (line === '' ? '' : `   ${line}`)),
    listSection('Objective', state.goal === '' ? [] : [state.goal]),
    listSection('Key Context', texts(state.key.items)),
    listSection('Decisions', state.decisions.items.slice(-5).map(decisionLine)),
    listSection('Discoveries', texts(state.discoveries.items.slice(-5))),
    listSection('Next Steps', texts(state.next.items)),
    listSection('Since Then', driftLines(drift)),
    titledSection(
      '   ## Resume Commands (shown, not run)',
      state.commands.items.map(({ text }) => `   $ ${text}`),
    ),
    project !== '' &&
      titledSection(
        '   ## Project (as read from its repository)',
        project.split('\n').map((line) => `   ${line}`),
      ),
  )
}

const HISTORY_TEXTS: Partial<Record<Drift['history'], string>> = {
  rewritten: 'is on no branch any more (amended, rebased or reset)',
  missing: 'is not in this repository',
  elsewhere: 'is not on this branch',
}

function driftLines(drift: Drift | undefined) {
  if (drift === undefined) return []
  const { branchThen, branchNow, history, from, commits, subjects, dirty } = drift
  const historyText = HISTORY_TEXTS[history]
  const lines = [
    ...(drift.hasBranchChanged && branchThen !== undefined
      ? [
          `the session was on ${branchThen}, you are on ${branchNow ?? 'no branch'}: git switch ${branchThen} goes back`,
        ]
      : []),
    ...(historyText === undefined ? [] : [`its commit ${from.slice(0, 7)} ${historyText}`]),
    ...(commits > 0
      ? [`${plural(commits, 'new commit')}: ${subjects.slice(0, 5).join('; ')}`]
      : []),
    ...(dirty > 0 ? [plural(dirty, 'uncommitted path')] : []),
  ]
  return lines.length === 0 ? ['no new commits, nothing uncommitted'] : lines
}
