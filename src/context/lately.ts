// What was found, asked and done lately.
import { waitingHandoff } from '../session/kinds/handoffs.ts'
import type { SessionState } from '../session/state.ts'
import { delegateLine } from '../document/progress.ts'
import { SHOW, from, noticed } from './commands.ts'
import { counted } from './counted.ts'
import { bullets, enumeration, paragraph } from './lists.ts'
import type { Section } from './section.ts'
import { tableSection } from './table.ts'

export function latelySections(state: SessionState, conversation?: string): readonly Section[] {
  return [
    bullets(
      state.progress.items.map((item) => item.text),
      {
        ...from(SHOW.progress, 'progress notes', state.progress),
        rank: 11,
        reserve: 28,
        fair: 120,
        heading: 'Done lately:',
        keep: 'last',
      },
    ),
    discoveries(state),
    ...noticedSections(state, conversation),
    paragraph(standingOf(state), {
      ...from(SHOW.all, 'state'),
      rank: 14,
      reserve: 20,
      fair: 60,
      heading: 'State:',
      lengths: [70, 45, 28],
    }),
    bullets(
      state.notes.items.map((note) => note.text),
      {
        ...from(SHOW.all, 'notes', state.notes),
        rank: 15,
        reserve: 0,
        fair: 60,
        heading: 'Notes:',
        keep: 'last',
      },
    ),
  ]
}

/** What hooks noticed by themselves; all there is where nobody logged anything. */
function noticedSections(
  state: SessionState,
  conversation: string | undefined,
): readonly Section[] {
  const requests = state.requests.items.slice(1).filter((request) => !request.isRuling)
  const files = state.changedFiles.items.toSorted((a, b) => (a.at < b.at ? 1 : -1))
  const { lastTurn } = state
  const isElsewhere = conversation !== undefined && lastTurn?.conversation !== conversation
  return [
    bullets(
      requests.map((request) => request.text),
      {
        ...noticed('requests', state.requests),
        rank: 7,
        reserve: 28,
        fair: 150,
        heading: 'Asked by the user lately:',
        keep: 'last',
      },
    ),
    enumeration(
      files.map((file) => file.text),
      {
        ...noticed('changed files', state.changedFiles),
        rank: 10,
        reserve: 28,
        fair: 100,
        heading: 'Files changed:',
        keep: 'first',
      },
    ),
    commits(state),
    testRuns(state),
    bullets(
      state.agents.items.map(({ text, result }) =>
        result === undefined ? text : `${text}: ${result}`,
      ),
      {
        ...noticed('agent results', state.agents),
        rank: 13,
        reserve: 28,
        fair: 120,
        heading: 'Agents that finished:',
        keep: 'last',
      },
    ),
    bullets(state.delegates.items.map(delegateLine), {
      ...from('stint delegates', 'delegates', state.delegates),
      rank: 6,
      reserve: 34,
      fair: 160,
      heading: 'Delegates:',
      keep: 'last',
    }),
    paragraph(lastTurn?.said ?? '', {
      ...noticed('last words'),
      rank: 9,
      reserve: 34,
      fair: 120,
      heading: isElsewhere
        ? "The agent's last words, in an earlier conversation:"
        : "The agent's last words:",
    }),
    paragraph(lastTurn?.failure ?? '', {
      ...noticed('failure'),
      rank: 5,
      reserve: 26,
      fair: 60,
      heading: 'The last turn failed:',
    }),
  ]
}

function standingOf(state: SessionState): string {
  const { branch, commit, dirty = 0 } = state.git
  const note = state.pauseNote ?? state.closeReason
  const waiting = waitingHandoff(state)
  const facts = [
    state.status === 'active' ? '' : state.status,
    waiting === undefined ? '' : `handoff ${waiting.number} waits: stint handoff accept`,
    state.compactions === 0 ? '' : `after ${counted(state.compactions, 'compaction')}`,
    branch === undefined ? '' : `branch ${branch}`,
    commit === undefined ? '' : `at ${commit.slice(0, 7)}`,
    dirty === 0 ? '' : counted(dirty, 'uncommitted path'),
    note ?? '',
  ]
  return facts.filter((fact) => fact !== '').join('; ')
}

function discoveries(state: SessionState): Section {
  const pinned = new Set(state.key.items.map((line) => line.from))
  const others = state.discoveries.items.filter((discovery) => !pinned.has(discovery.id))
  return bullets(
    others.map(({ text, gotcha }) => (gotcha ? `Gotcha: ${text}` : text)),
    {
      ...from(SHOW.discoveries, 'discoveries', state.discoveries),
      rank: 8,
      reserve: 28,
      fair: 180,
      heading: 'Discoveries:',
      keep: 'last',
    },
  )
}

function commits(state: SessionState): Section {
  return tableSection(
    {
      name: 'commits',
      heading: 'Commits:',
      main: 'subject',
      columns: { commit: 0.5, subject: 1 },
      rows: state.commits.items.map(({ commit, text }) => ({
        commit: commit.slice(0, 7),
        subject: text,
      })),
      line: ({ commit, subject }) => `${commit} ${subject}`,
    },
    {
      ...noticed('commits', state.commits),
      rank: 12,
      reserve: 34,
      fair: 120,
      keep: 'last',
      lengths: [50, 36],
    },
  )
}

function testRuns(state: SessionState): Section {
  const newestFirst = state.tests.items.toReversed()
  const runs = [
    ...newestFirst.filter((run) => !run.passed),
    ...newestFirst.filter((run) => run.passed),
  ]
  return tableSection(
    {
      name: 'tests',
      heading: 'Tests, as they last ran:',
      main: 'command',
      columns: { result: 0.3, command: 0.6, summary: 0.6 },
      rows: runs.map((run) => ({
        result: run.passed ? 'passed' : 'FAILED',
        command: run.text,
        summary: run.summary ?? '',
      })),
      line: ({ result, command, summary }) =>
        `${result}: ${command}${summary === '' ? '' : ` (${summary})`}`,
    },
    {
      ...noticed('test runs', state.tests),
      rank: 6,
      reserve: 40,
      fair: 120,
      keep: 'first',
      lengths: [80, 50],
    },
  )
}
