import { decisionLine, delegateLine } from '../document/progress.ts'
import { waitingHandoff } from '../session/kinds/handoffs.ts'
import { focusOf, phaseLine } from '../session/kinds/phases.ts'
import { type SessionState, currentStep, openBlockers, stepCounts } from '../session/state.ts'
import { tldrOf } from '../session/tldr.ts'
import { counted } from './cost.ts'
import { SHOW, type Section, bullets, enumeration, frame, paragraph } from './section.ts'
import { tableSection } from './table.ts'

function textsOf({ items }: { readonly items: readonly { readonly text: string }[] }) {
  return items.map(({ text }) => text)
}

function joined(parts: readonly string[]) {
  return parts.filter((part) => part !== '').join('; ')
}

/** The head knows nothing of the rest, so that a harness's cache finds the same bytes again. */
export function settledSections(state: SessionState): readonly Section[] {
  const [first, ...later] = state.requests.items
  const { key, keyFiles, commands } = state
  const pinned = key.items.filter(({ from }) => from === undefined)
  // A decision that a checkpoint drew is shown once, with the decisions.
  const decided = new Set(state.decisions.items.map(({ id }) => id))
  const drawn = key.items.filter(({ from }) => from !== undefined && !decided.has(from))
  return [
    paragraph(
      state.title === '' ? state.name : `${state.name} (${state.title})`,
      frame('Session:', 'name', SHOW.all, [0, 24, 60], { lengths: [50, 30, 18] }),
    ),
    paragraph(state.goal, frame('Objective:', 'objective', SHOW.all, [1, 60, 120])),
    paragraph(
      first?.text ?? '',
      frame("The user's first request:", 'first request', SHOW.activity, [2, 50, 100]),
    ),
    bullets(
      pinned.map(({ text }) => text),
      frame('Key context:', 'lines of key context', SHOW.all, [3, 300, Infinity], {
        lengths: [200, 120, 80, 60, 52, 46, 40, 34, 28],
      }),
    ),
    decisions(state),
    bullets(
      later.filter(({ isRuling }) => isRuling).map(({ text }) => text),
      frame('Ruled by the user, in their words:', 'rulings', SHOW.activity, [5, 90, 300]),
    ),
    bullets(
      drawn.map(({ text }) => text),
      frame(
        'Key context drawn at checkpoints:',
        'lines drawn at checkpoints',
        SHOW.all,
        [6, 30, 250],
        { shelf: key },
      ),
    ),
    enumeration(
      keyFiles.items.map(({ text, description }) =>
        description === undefined ? text : `${text} (${description})`,
      ),
      frame('Key files:', 'key files', SHOW.all, [7, 30, 100], { shelf: keyFiles }),
    ),
    bullets(
      textsOf(commands),
      frame('Commands that were kept:', 'commands', SHOW.all, [8, 28, 80], { shelf: commands }),
    ),
    enumeration(state.tasks, frame('Tasks:', 'tasks', SHOW.all, [9, 20, 40])),
  ]
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
      ...frame('Decisions:', 'decisions', SHOW.decisions, [4, 180, 450], { shelf }),
      lengths: [120, 80, 60, 46],
    },
  )
}

/** What these sections have together even when others want everything. */
export const STANDING_ROOM = 280

export function standingSections(state: SessionState): readonly Section[] {
  return [
    paragraph(tldrWithoutGoal(state), frame(tldrHeading(state), 'TL;DR', SHOW.all, [0, 80, 170])),
    paragraph(
      workflowOf(state),
      frame('Workflow:', 'workflow', SHOW.all, [1, 40, 80], { lengths: [80, 60, 38] }),
    ),
    paragraph(
      progressOf(state),
      frame('Progress:', 'progress', SHOW.progress, [1, 32, 60], { lengths: [60, 40, 26] }),
    ),
    openSteps(state),
    bullets(
      openBlockers(state).map(({ text }) => text),
      frame('Open blockers:', 'open blockers', SHOW.blockers, [2, 40, 120]),
    ),
    bullets(
      textsOf(state.next),
      frame('Next steps:', 'next steps', SHOW.next, [3, 40, 120], {
        shelf: state.next,
        keep: 'first',
      }),
    ),
  ]
}

// The objective stands above it already.
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

function workflowOf(state: SessionState) {
  const phase = phaseLine(state)
  if (phase === undefined) return ''
  const waits = state.workflow!.phases.some(({ status }) => status === 'waiting for approval')
  const focus = focusOf(state)
  // Whether it waits stands before what may be long enough to be cut.
  return joined([
    `${state.name}, ${phase}`,
    waits ? "waits for a person's approval" : '',
    focus === undefined ? '' : `focus: ${focus}`,
  ])
}

function progressOf(state: SessionState) {
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
      ...frame('Open steps:', 'open steps', SHOW.progress, [4, 44, 150], { keep: 'first' }),
      lengths: [60, 40],
    },
  )
}

export function latelySections(state: SessionState, conversation?: string): readonly Section[] {
  const { progress, discoveries, agents, delegates, notes, lastTurn } = state
  const pinned = new Set(state.key.items.map((line) => line.from))
  const found = discoveries.items.filter(({ id }) => !pinned.has(id))
  const requests = state.requests.items.slice(1).filter(({ isRuling }) => !isRuling)
  const files = state.changedFiles.items.toSorted((a, b) => (a.at < b.at ? 1 : -1))
  const isElsewhere = conversation !== undefined && lastTurn?.conversation !== conversation
  return [
    bullets(
      textsOf(progress),
      frame('Done lately:', 'progress notes', SHOW.progress, [11, 28, 120], { shelf: progress }),
    ),
    bullets(
      found.map(({ text, gotcha }) => (gotcha ? `Gotcha: ${text}` : text)),
      frame('Discoveries:', 'discoveries', SHOW.discoveries, [8, 28, 180], { shelf: discoveries }),
    ),
    bullets(
      requests.map(({ text }) => text),
      frame('Asked by the user lately:', 'requests', SHOW.activity, [7, 28, 150], {
        shelf: state.requests,
      }),
    ),
    enumeration(
      files.map(({ text }) => text),
      frame('Files changed:', 'changed files', SHOW.activity, [10, 28, 100], {
        shelf: state.changedFiles,
        keep: 'first',
      }),
    ),
    commits(state),
    testRuns(state),
    bullets(
      agents.items.map(({ text, result }) => (result === undefined ? text : `${text}: ${result}`)),
      frame('Agents that finished:', 'agent results', SHOW.activity, [13, 28, 120], {
        shelf: agents,
      }),
    ),
    bullets(
      delegates.items.map(delegateLine),
      frame('Delegates:', 'delegates', 'stint delegates', [6, 34, 160], { shelf: delegates }),
    ),
    paragraph(
      lastTurn?.said ?? '',
      frame(
        `The agent's last words${isElsewhere ? ', in an earlier conversation' : ''}:`,
        'last words',
        SHOW.activity,
        [9, 34, 120],
      ),
    ),
    paragraph(
      lastTurn?.failure ?? '',
      frame('The last turn failed:', 'failure', SHOW.activity, [5, 26, 60]),
    ),
    paragraph(
      statusOf(state),
      frame('State:', 'state', SHOW.all, [14, 20, 60], { lengths: [70, 45, 28] }),
    ),
    bullets(textsOf(notes), frame('Notes:', 'notes', SHOW.all, [15, 0, 60], { shelf: notes })),
  ]
}

function statusOf(state: SessionState) {
  const { branch, commit, dirty = 0 } = state.git
  const waiting = waitingHandoff(state)
  return joined([
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
      rows: shelf.items.map(({ commit, text }) => ({ commit: commit.slice(0, 7), subject: text })),
      line: ({ commit, subject }) => `${commit} ${subject}`,
    },
    {
      ...frame('Commits:', 'commits', SHOW.activity, [12, 34, 120], { shelf }),
      lengths: [50, 36],
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
      ...frame('Tests, as they last ran:', 'test runs', SHOW.activity, [6, 40, 120], {
        shelf,
        keep: 'first',
      }),
      lengths: [80, 50],
    },
  )
}

export function failedFirst<T extends { readonly passed: boolean }>(
  runs: readonly T[],
): readonly T[] {
  return runs.toReversed().toSorted((a, b) => Number(a.passed) - Number(b.passed))
}
