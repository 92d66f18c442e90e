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

function textsOf({ items }: { readonly items: readonly { readonly text: string }[] }) {
  return items.map(({ text }) => text)
}

function joinParts(parts: readonly string[]) {
  return parts.filter((part) => part !== '').join('; ')
}

/** The head must not depend on the rest, so that prompt caches see the same bytes. */
export function stableSections(state: SessionState): readonly ContextSection[] {
  const { key, keyFiles, commands } = state
  const pinned = key.items.filter(({ from }) => from === undefined)
  // A decision that a checkpoint copied is shown with the decisions only.
  const decided = new Set(state.decisions.items.map(({ id }) => id))
  const copied = key.items.filter(({ from }) => from !== undefined && !decided.has(from))
  return [
    paragraph(
      state.title === '' ? state.name : `${state.name} (${state.title})`,
      sectionFrame('Session:', 'name', VIEW_COMMANDS.all, [0, 24, 60], { lengths: [50, 30, 18] }),
    ),
    paragraph(state.goal, sectionFrame('Objective:', 'objective', VIEW_COMMANDS.all, [1, 60, 120])),
    firstRequest(state),
    bullets(
      pinned.map(({ text }) => text),
      sectionFrame('Key context:', 'lines of key context', VIEW_COMMANDS.all, [3, 300, Infinity], {
        lengths: [Infinity, 200, 120, 80, 60, 52, 46, 40, 34, 28],
      }),
    ),
    decisions(state),
    bullets(
      copied.map(({ text }) => text),
      sectionFrame(
        'Key context drawn at checkpoints:',
        'lines drawn at checkpoints',
        VIEW_COMMANDS.all,
        [6, 30, 250],
        { shelf: key },
      ),
    ),
    enumeration(
      keyFiles.items.map(({ text, description }) =>
        description === undefined ? text : `${text} (${description})`,
      ),
      sectionFrame('Key files:', 'key files', VIEW_COMMANDS.all, [7, 30, 100], { shelf: keyFiles }),
    ),
    bullets(
      textsOf(commands),
      sectionFrame('Commands that were kept:', 'commands', VIEW_COMMANDS.all, [8, 28, 80], {
        shelf: commands,
      }),
    ),
    enumeration(state.tasks, sectionFrame('Tasks:', 'tasks', VIEW_COMMANDS.all, [9, 20, 40])),
  ]
}

/** Unless the objective, which hooks take from it, says the same. */
function firstRequest({ requests, goal }: SessionState) {
  const text = requests.items[0]?.text ?? ''
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

function decisions({ decisions: shelf }: SessionState) {
  return tableSection(
    {
      name: 'decisions',
      main: 'decision',
      columns: { decision: 0.4, choice: 0.3, because: 0.5 },
      rows: shelf.items.map(({ text, choice, rationale }) => ({
        decision: text,
        choice: choice === text ? '' : (choice ?? ''),
        because: rationale ?? '',
      })),
      line: ({ decision, choice, because }) =>
        decisionLine({
          text: decision,
          ...(choice === '' ? {} : { choice }),
          ...(because === '' ? {} : { rationale: because }),
        }),
    },
    {
      ...sectionFrame('Decisions:', 'decisions', VIEW_COMMANDS.decisions, [4, 180, 450], { shelf }),
      lengths: [Infinity, 120, 80, 60, 46],
    },
  )
}

/** Room reserved for these sections together. */
export const CURRENT_ROOM = 280

export function currentSections(state: SessionState): readonly ContextSection[] {
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
    openSteps(state),
    bullets(
      openBlockers(state).map(({ text }) => text),
      sectionFrame('Open blockers:', 'open blockers', VIEW_COMMANDS.blockers, [2, 40, 120]),
    ),
    bullets(
      textsOf(state.next),
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

function openSteps(state: SessionState) {
  const current = currentStep(state)
  const open = state.steps.items.filter((step) => step.status !== 'done')
  return tableSection(
    {
      name: 'open_steps',
      main: 'step',
      columns: { is: 1, step: 1 },
      rows: open.map((step) => ({
        is: step === current ? 'current' : step.status,
        step: step.text,
      })),
      line: ({ is, step }) => (is === 'todo' ? `[ ] ${step}` : `[ ] ${step} (${is})`),
    },
    {
      ...sectionFrame('Open steps:', 'open steps', VIEW_COMMANDS.progress, [4, 44, 150], {
        keep: 'first',
      }),
      lengths: [Infinity, 60, 40],
    },
  )
}

/** What people and agents recorded about the work. */
export function recordedSections(state: SessionState): readonly ContextSection[] {
  const { progress, discoveries, notes } = state
  const pinned = new Set(state.key.items.map((line) => line.from))
  const found = discoveries.items.filter(({ id }) => !pinned.has(id))
  return [
    bullets(
      found.map(({ text, gotcha }) => (gotcha ? `Gotcha: ${text}` : text)),
      sectionFrame('Discoveries:', 'discoveries', VIEW_COMMANDS.discoveries, [8, 28, 300], {
        shelf: discoveries,
      }),
    ),
    bullets(
      textsOf(progress),
      sectionFrame('Done lately:', 'progress notes', VIEW_COMMANDS.progress, [11, 28, 160], {
        shelf: progress,
      }),
    ),
    bullets(
      textsOf(notes),
      sectionFrame('Notes:', 'notes', VIEW_COMMANDS.all, [12, 20, 120], { shelf: notes }),
    ),
  ]
}

/** What hooks captured. */
export function capturedSections(
  state: SessionState,
  conversation?: string,
): readonly ContextSection[] {
  const { agents, delegates, lastTurn } = state
  const files = state.changedFiles.items.toSorted((a, b) => (a.at < b.at ? 1 : -1))
  const isOther = conversation !== undefined && lastTurn?.conversation !== conversation
  return [
    ...statementSections(state),
    observationSection(state),
    requestSection(state),
    enumeration(
      files.map(({ text }) => text),
      sectionFrame('Files changed:', 'changed files', VIEW_COMMANDS.activity, [10, 28, 100], {
        shelf: state.changedFiles,
        keep: 'first',
      }),
    ),
    commits(state),
    testRuns(state),
    bullets(
      agents.items.map(({ text, result }) => (result === undefined ? text : `${text}: ${result}`)),
      sectionFrame(
        'Agents that finished:',
        'agent results',
        VIEW_COMMANDS.activity,
        [13, 28, 120],
        {
          shelf: agents,
        },
      ),
    ),
    bullets(
      delegates.items.map(delegateLine),
      sectionFrame('Delegates:', 'delegates', 'stint delegates', [6, 34, 160], {
        shelf: delegates,
      }),
    ),
    lastWordsSection(state, isOther),
    paragraph(
      lastTurn?.failure ?? '',
      sectionFrame('The last turn failed:', 'failure', VIEW_COMMANDS.activity, [5, 26, 60]),
    ),
    paragraph(
      stateText(state),
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

function commits({ commits: shelf }: SessionState) {
  return tableSection(
    {
      name: 'commits',
      main: 'subject',
      columns: { commit: 0.5, subject: 1 },
      rows: shelf.items.map(({ commit, text, body }) => ({
        commit: commit.slice(0, 7),
        subject: body === undefined ? text : `${text} (${body})`,
      })),
      line: ({ commit, subject }) => `${commit} ${subject}`,
    },
    {
      ...sectionFrame('Commits:', 'commits', VIEW_COMMANDS.activity, [12, 34, 120], { shelf }),
      lengths: [Infinity, 50, 36],
    },
  )
}

function testRuns({ tests: shelf }: SessionState) {
  return tableSection(
    {
      name: 'tests',
      main: 'command',
      columns: { result: 0.3, command: 0.6, summary: 0.6 },
      rows: failedFirst(shelf.items).map(({ passed, text, summary = '' }) => ({
        result: passed ? 'passed' : 'FAILED',
        command: text,
        summary,
      })),
      line: ({ result, command, summary }) =>
        `${result}: ${command}${summary === '' ? '' : ` (${summary})`}`,
    },
    {
      ...sectionFrame(
        'Tests, as they last ran:',
        'test runs',
        VIEW_COMMANDS.activity,
        [6, 40, 120],
        {
          shelf,
          keep: 'first',
        },
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
