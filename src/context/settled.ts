// The head of a record: what was settled and changes rarely. It stands first and knows nothing of the rest, so that a
// harness which caches what it has read before finds the same bytes again.
import type { SessionState } from '../session/state.ts'
import { decisionLine } from '../document/progress.ts'
import { SHOW, from, noticed } from './commands.ts'
import { bullets, enumeration, paragraph } from './lists.ts'
import type { Section } from './section.ts'
import { tableSection } from './table.ts'

export function settledSections(state: SessionState): readonly Section[] {
  const [first, ...later] = state.requests.items
  const rulings = later.filter((request) => request.isRuling).map((request) => request.text)
  const titled = state.title === '' ? state.name : `${state.name} (${state.title})`
  return [
    paragraph(titled, {
      ...from(SHOW.all, 'name'),
      rank: 0,
      reserve: 24,
      fair: 60,
      heading: 'Session:',
      lengths: [50, 30, 18],
    }),
    paragraph(state.goal, {
      ...from(SHOW.all, 'objective'),
      rank: 1,
      reserve: 60,
      fair: 120,
      heading: 'Objective:',
    }),
    paragraph(first?.text ?? '', {
      ...noticed('first request'),
      rank: 2,
      reserve: 50,
      fair: 100,
      heading: "The user's first request:",
    }),
    pinned(state),
    decisions(state),
    bullets(rulings, {
      ...noticed('rulings'),
      rank: 5,
      reserve: 90,
      fair: 300,
      heading: 'Ruled by the user, in their words:',
      keep: 'last',
    }),
    drawn(state),
    enumeration(
      state.keyFiles.items.map(({ text, description }) =>
        description === undefined ? text : `${text} (${description})`,
      ),
      {
        ...from(SHOW.all, 'key files', state.keyFiles),
        rank: 7,
        reserve: 30,
        fair: 100,
        heading: 'Key files:',
        keep: 'last',
      },
    ),
    bullets(
      state.commands.items.map((command) => command.text),
      {
        ...from(SHOW.all, 'commands', state.commands),
        rank: 8,
        reserve: 28,
        fair: 80,
        heading: 'Commands that were kept:',
        keep: 'last',
      },
    ),
    enumeration(state.tasks, {
      ...from(SHOW.all, 'tasks'),
      rank: 9,
      reserve: 20,
      fair: 40,
      heading: 'Tasks:',
      keep: 'last',
    }),
  ]
}

/** What somebody pinned. */
function pinned(state: SessionState): Section {
  const lines = state.key.items.filter((line) => line.from === undefined)
  return bullets(
    lines.map((line) => line.text),
    {
      ...from(SHOW.all, 'lines of key context'),
      rank: 3,
      reserve: 300,
      fair: Infinity,
      heading: 'Key context:',
      keep: 'last',
      lengths: [200, 120, 80, 60, 52, 46, 40, 34, 28],
    },
  )
}

/** What checkpoints drew from the journal. A decision among it is told once, with the decisions. */
function drawn(state: SessionState): Section {
  const decided = new Set(state.decisions.items.map((decision) => decision.id))
  const lines = state.key.items.filter((line) => line.from !== undefined && !decided.has(line.from))
  return bullets(
    lines.map((line) => line.text),
    {
      ...from(SHOW.all, 'lines drawn at checkpoints', state.key),
      rank: 6,
      reserve: 30,
      fair: 250,
      heading: 'Key context drawn at checkpoints:',
      keep: 'last',
    },
  )
}

function decisions(state: SessionState): Section {
  return tableSection(
    {
      name: 'decisions',
      heading: 'Decisions:',
      main: 'decision',
      columns: { decision: 0.4, choice: 0.3, because: 0.5 },
      rows: state.decisions.items.map(({ text, choice, rationale }) => ({
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
      ...from(SHOW.decisions, 'decisions', state.decisions),
      rank: 4,
      reserve: 180,
      fair: 450,
      keep: 'last',
      lengths: [120, 80, 60, 46],
    },
  )
}
