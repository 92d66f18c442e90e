import { decisionLine, delegateLine } from '../document/progress-file.ts'
import { waitingHandoff } from '../session/kinds/handoffs.ts'
import { currentFocus, phaseLine } from '../session/kinds/phases.ts'
import { type SessionState, currentStep, openBlockers, stepCounts } from '../session/state.ts'
import { tldrOf } from '../session/tldr.ts'
import { oneLine } from '../text/clean.ts'
import {
  lastWordsSection,
  observationSection,
  requestSection,
  statementSections,
} from './captured-sections.ts'
import { counted } from './text-size.ts'
import {
  VIEW_COMMANDS,
  type ContextSection,
  bullets,
  enumeration,
  sectionFrame,
  paragraph,
} from './section.ts'
import { tableSection } from './table-section.ts'
import { type EntryValuer, entryValuer, standingDecisions } from './entry-value.ts'

function textsOf({ items }: { readonly items: readonly { readonly text: string }[] }) {
  return items.map(({ text }) => text)
}

function joinParts(parts: readonly string[]) {
  return parts.filter((part) => part !== '').join('; ')
}

/** The sections of a context by how they get their room. */
export interface SectionGroups {
  readonly intro: readonly ContextSection[]
  /** Must not depend on what follows, so that prompt caches see the same bytes. */
  readonly head: readonly ContextSection[]
  readonly status: readonly ContextSection[]
  readonly openWork: readonly ContextSection[]
  /** What else people and agents recorded. */
  readonly recorded: readonly ContextSection[]
  readonly captured: readonly ContextSection[]
}

/** `isBrief` drops why a decision was made before it drops decisions. */
export function sectionGroups(
  state: SessionState,
  { conversation, isBrief = false }: { conversation?: string | undefined; isBrief?: boolean } = {},
): SectionGroups {
  const valued = entryValuer(state)
  return {
    intro: [
      paragraph(
        hasOwnTitle(state) ? `${state.name} (${state.title})` : state.name,
        sectionFrame('Session:', 'name', VIEW_COMMANDS.all, [0, 24, 60], { lengths: [50, 30, 18] }),
      ),
      paragraph(
        state.goal,
        sectionFrame('Objective:', 'objective', VIEW_COMMANDS.all, [1, 60, 120]),
      ),
      firstRequest(state),
    ],
    head: [keyContext(state, valued), decisions(state, valued, isBrief)],
    status: statusSections(state),
    openWork: openWork(state, valued),
    recorded: recordedSections(state, valued),
    captured: capturedSections(state, valued, conversation),
  }
}

function keyContext({ key }: SessionState, valued: EntryValuer) {
  const pinned = key.items.filter(({ from }) => from === undefined).map(({ text }) => text)
  return bullets(
    valued('pinned', pinned),
    sectionFrame('Key context:', 'lines of key context', VIEW_COMMANDS.all, [3, 300, Infinity]),
  )
}

/** A title that is made of the name says nothing more. */
function hasOwnTitle({ name, title }: SessionState) {
  return title !== '' && title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-') !== name
}

/** Unless the objective, which hooks take from it, says the same. */
function firstRequest({ requests, goal }: SessionState) {
  const text = requests.items[0]?.asked ?? ''
  const isObjective = goal !== '' && oneLine(text).startsWith(goal.replace(/…$/, ''))
  return paragraph(
    isObjective ? '' : text,
    sectionFrame(
      "The user's first request:",
      'first request',
      VIEW_COMMANDS.activity,
      [2, 50, 100],
      {
        lengths: [160, 110, 80, 55, 35, 18],
      },
    ),
  )
}

function decisions({ decisions: shelf }: SessionState, valued: EntryValuer, isBrief: boolean) {
  const standing = isBrief ? standingDecisions(shelf.items) : shelf.items
  const rows = standing.map(({ text, choice, rationale }) => ({
    decision: text,
    choice: choice === undefined || text.includes(choice) ? '' : choice,
    because: isBrief ? '' : (rationale ?? ''),
  }))
  const values = valued(
    'decision',
    rows.map(({ decision }) => decision),
  )
  return tableSection(
    {
      name: 'decisions',
      main: 'decision',
      columns: { decision: 0.6, choice: 0.3, because: 0.5 },
      rows,
      values: values.map(({ value }) => value),
      line: ({ decision, choice, because }) =>
        decisionLine({
          text: decision,
          ...(choice === '' ? {} : { choice }),
          ...(because === '' ? {} : { rationale: because }),
        }),
    },
    {
      ...sectionFrame('Decisions:', 'decisions', VIEW_COMMANDS.decisions, [4, 180, 450], {
        shelf: { earlier: shelf.earlier + shelf.items.length - standing.length },
        omits: isBrief && standing.some(({ rationale }) => rationale) ? 'reasons' : undefined,
      }),
      lengths: [Infinity, 120, 80, 60, 46],
    },
  )
}

function statusSections(state: SessionState): readonly ContextSection[] {
  return [
    paragraph(
      tldrWithoutGoal(state),
      sectionFrame(tldrHeading(state), 'TL;DR', VIEW_COMMANDS.all, [0, 80, 170]),
    ),
    paragraph(
      workflowText(state),
      sectionFrame('Workflow:', 'workflow', VIEW_COMMANDS.all, [1, 40, 80], {
        lengths: [80, 60, 38],
      }),
    ),
    paragraph(
      progressText(state),
      sectionFrame('Progress:', 'progress', VIEW_COMMANDS.progress, [1, 32, 60], {
        lengths: [60, 40, 26],
      }),
    ),
  ]
}

function openWork(state: SessionState, valued: EntryValuer): readonly ContextSection[] {
  const blockers = openBlockers(state).map(({ text }) => text)
  // The first next step comes first.
  const next = valued('next', textsOf(state.next).toReversed()).toReversed()
  return [
    openSteps(state, valued),
    bullets(
      valued('blocker', blockers),
      sectionFrame('Open blockers:', 'open blockers', VIEW_COMMANDS.blockers, [2, 40, 120]),
    ),
    bullets(
      next,
      sectionFrame('Next steps:', 'next steps', VIEW_COMMANDS.next, [3, 40, 120], {
        shelf: state.next,
        keep: 'first',
      }),
    ),
  ]
}

// The objective has a section of its own.
function tldrWithoutGoal(state: SessionState) {
  const { progress, steps, discoveries, blockers, next } = state
  const hasNothing = [progress, steps, discoveries, blockers, next].every(
    (shelf) => shelf.items.length === 0,
  )
  return state.tldr === undefined && hasNothing ? '' : tldrOf({ ...state, goal: '' })
}

function tldrHeading({ tldr }: SessionState) {
  const isOld = tldr?.isOutdated === true && tldr.renewed === undefined
  return isOld ? 'TL;DR (written before the latest entries):' : 'TL;DR:'
}

function workflowText(state: SessionState) {
  const phase = phaseLine(state)
  if (phase === undefined) return ''
  const waits = state.workflow!.phases.some(({ status }) => status === 'waiting for approval')
  const focus = currentFocus(state)
  // The waiting status comes first because the focus may be cut.
  return joinParts([
    `${state.name}, ${phase}`,
    waits ? "waits for a person's approval" : '',
    focus === undefined ? '' : `focus: ${focus}`,
  ])
}

function progressText(state: SessionState) {
  const { done, total } = stepCounts(state)
  const current = currentStep(state)
  if (total === 0) return ''
  return `${done}/${total} steps done${current === undefined ? '' : `; current: ${current.text}`}`
}

function openSteps(state: SessionState, valued: EntryValuer) {
  const current = currentStep(state)
  const open = state.steps.items.filter((step) => step.status !== 'done')
  // The first open step comes first, and the current one before all.
  const values = valued('step', open.map(({ text }) => text).toReversed()).toReversed()
  return tableSection(
    {
      name: 'open_steps',
      main: 'step',
      columns: { is: 1, step: 1 },
      rows: open.map((step) => ({
        is: step === current ? 'current' : step.status,
        step: step.text,
      })),
      values: values.map(({ value }, index) => (open[index] === current ? 1 : value)),
      line: ({ is, step }) => (is === 'todo' ? step : `${step} (${is})`),
    },
    {
      ...sectionFrame('Open steps:', 'open steps', VIEW_COMMANDS.progress, [4, 44, 150], {
        keep: 'first',
      }),
      lengths: [Infinity, 60, 40],
    },
  )
}

function recordedSections(state: SessionState, valued: EntryValuer): readonly ContextSection[] {
  const { key, discoveries, keyFiles, commands, progress, notes, delegates } = state
  const pinned = new Set(key.items.map((line) => line.from))
  const found = discoveries.items.filter(({ id }) => !pinned.has(id))
  const gotchas = found.filter(({ gotcha }) => gotcha).map(({ text }) => text)
  const others = found.filter(({ gotcha }) => !gotcha).map(({ text }) => text)
  // A decision that a checkpoint copied is shown with the decisions only.
  const decided = new Set(state.decisions.items.map(({ id }) => id))
  const copied = key.items.filter(({ from }) => from !== undefined && !decided.has(from))
  const files = keyFiles.items.map(({ text, description }) =>
    description === undefined ? text : `${text} (${description})`,
  )
  return [
    bullets(
      valued(
        'discovery',
        copied.map(({ text }) => text),
      ),
      sectionFrame(
        'Key context drawn at checkpoints:',
        'lines drawn at checkpoints',
        VIEW_COMMANDS.all,
        [6, 30, 250],
        { shelf: key },
      ),
    ),
    bullets(
      valued('gotcha', gotchas),
      sectionFrame('Gotchas:', 'gotchas', VIEW_COMMANDS.discoveries, [8, 28, 300]),
    ),
    bullets(
      valued('discovery', others),
      sectionFrame('Discoveries:', 'discoveries', VIEW_COMMANDS.discoveries, [8, 28, 300], {
        shelf: discoveries,
      }),
    ),
    bullets(
      valued('progress', textsOf(progress)),
      sectionFrame('Done lately:', 'progress notes', VIEW_COMMANDS.progress, [11, 28, 160], {
        shelf: progress,
      }),
    ),
    bullets(
      valued('note', textsOf(notes)),
      sectionFrame('Notes:', 'notes', VIEW_COMMANDS.all, [12, 20, 120], { shelf: notes }),
    ),
    enumeration(
      valued('file', files),
      sectionFrame('Key files:', 'key files', VIEW_COMMANDS.all, [7, 30, 100], { shelf: keyFiles }),
    ),
    bullets(
      valued('command', textsOf(commands)),
      sectionFrame('Commands that were kept:', 'commands', VIEW_COMMANDS.all, [8, 28, 80], {
        shelf: commands,
      }),
    ),
    bullets(
      delegates.items.map((delegate) => ({ text: delegateLine(delegate), value: DELEGATE_VALUE })),
      sectionFrame('Delegates:', 'delegates', 'stint delegates', [6, 34, 160], {
        shelf: delegates,
      }),
    ),
    enumeration(state.tasks, sectionFrame('Tasks:', 'tasks', VIEW_COMMANDS.all, [9, 20, 40])),
  ]
}

const DELEGATE_VALUE = 0.2
const STATE_VALUE = 0.6
const FAILURE_VALUE = 0.4
const PATH_VALUE = 0.01

/** What hooks captured. */
function capturedSections(
  state: SessionState,
  valued: EntryValuer,
  conversation: string | undefined,
): readonly ContextSection[] {
  const { agents, lastTurn } = state
  const files = state.changedFiles.items.toSorted((a, b) => (a.at < b.at ? 1 : -1))
  const isOther = conversation !== undefined && lastTurn?.conversation !== conversation
  const results = agents.items.map(({ text, result }) =>
    result === undefined ? text : `${text}: ${result}`,
  )
  return [
    ...statementSections(state),
    observationSection(state),
    requestSection(state, valued),
    testRuns(state, valued),
    commits(state, valued),
    enumeration(
      files.map(({ text }, index) => ({ text, value: PATH_VALUE * (1 - index / 1000) })),
      sectionFrame('Files changed:', 'changed files', VIEW_COMMANDS.activity, [10, 28, 100], {
        shelf: state.changedFiles,
        keep: 'first',
      }),
    ),
    bullets(
      valued('agent', results),
      sectionFrame(
        'Agents that finished:',
        'agent results',
        VIEW_COMMANDS.activity,
        [13, 28, 120],
        { shelf: agents },
      ),
    ),
    lastWordsSection(state, isOther),
    paragraph(
      { text: lastTurn?.failure ?? '', value: FAILURE_VALUE },
      sectionFrame('The last turn failed:', 'failure', VIEW_COMMANDS.activity, [5, 26, 60]),
    ),
    paragraph(
      { text: stateText(state), value: STATE_VALUE },
      sectionFrame('State:', 'state', VIEW_COMMANDS.all, [2, 20, 60], { lengths: [70, 45, 28] }),
    ),
  ]
}

function stateText(state: SessionState) {
  const { branch, commit, dirty = 0 } = state.git
  const waiting = waitingHandoff(state)
  return joinParts([
    state.status === 'active' ? '' : state.status,
    waiting === undefined ? '' : `handoff ${waiting.number} waits: stint handoff accept`,
    state.compactions === 0 ? '' : `after ${counted(state.compactions, 'compaction')}`,
    branch === undefined ? '' : `branch ${branch}`,
    commit === undefined ? '' : `at ${commit.slice(0, 7)}`,
    dirty === 0 ? '' : counted(dirty, 'uncommitted path'),
    state.pauseNote ?? state.closeReason ?? '',
  ])
}

function commits({ commits: shelf }: SessionState, valued: EntryValuer) {
  const rows = shelf.items.map(({ commit, text, body }) => ({
    commit: commit.slice(0, 7),
    subject: body === undefined ? text : `${text} (${body})`,
  }))
  const values = valued(
    'commit',
    rows.map(({ subject }) => subject),
  )
  return tableSection(
    {
      name: 'commits',
      main: 'subject',
      columns: { commit: 0.5, subject: 1 },
      rows,
      values: values.map(({ value }) => value),
      line: ({ commit, subject }) => `${commit} ${subject}`,
    },
    {
      ...sectionFrame('Commits:', 'commits', VIEW_COMMANDS.activity, [12, 34, 120], { shelf }),
      lengths: [Infinity, 50, 36],
    },
  )
}

function testRuns({ tests: shelf, observations }: SessionState, valued: EntryValuer) {
  // A failed run whose tests are listed with their assertions says nothing more.
  const listed = new Set(observations?.tests.map(({ command }) => command))
  const runs = failedFirst(shelf.items.filter(({ passed, text }) => passed || !listed.has(text)))
  const values = runs.map(
    ({ passed, text }) => valued(passed ? 'passed test' : 'failed test', [text])[0]!.value,
  )
  return tableSection(
    {
      name: 'tests',
      main: 'command',
      columns: { result: 0.3, command: 0.6, summary: 0.6 },
      rows: runs.map(({ passed, text, summary = '' }) => ({
        result: passed ? 'passed' : 'FAILED',
        command: text,
        summary,
      })),
      values,
      line: ({ result, command, summary }) =>
        `${result}: ${command}${summary === '' ? '' : ` (${summary})`}`,
    },
    {
      ...sectionFrame(
        'Tests, as they last ran:',
        'test runs',
        VIEW_COMMANDS.activity,
        [6, 40, 120],
        { shelf, keep: 'first' },
      ),
      lengths: [Infinity, 80, 50],
    },
  )
}

export function failedFirst<T extends { readonly passed: boolean }>(
  runs: readonly T[],
): readonly T[] {
  return runs.toReversed().toSorted((a, b) => Number(a.passed) - Number(b.passed))
}
