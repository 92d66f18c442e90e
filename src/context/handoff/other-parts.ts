// Everything that helps and may have to be left out, in the order in which it is read.
import { SHOW } from '../commands.ts'
import { safeLine } from '../../text/safe-text.ts'
import type { Section } from '../section.ts'
import { type SessionState, currentStep, stepCounts } from '../../session/state.ts'
import { tldrOf } from '../../session/tldr.ts'
import { minute } from '../../text/times.ts'
import { decisionLine } from '../../document/progress.ts'
import type { Claim } from './probes/claim.ts'
import type { FileToReview, HandoffFacts } from './facts.ts'
import { code, plainLine } from './markdown.ts'
import { type Frame, type Told, part } from './parts.ts'
import { shownTag } from './shown-tag.ts'

type Ranks = Pick<Frame, 'rank' | 'reserve' | 'fair'>
const ranks = (rank: number, reserve: number, fair: number): Ranks => ({ rank, reserve, fair })

export function otherParts(facts: HandoffFacts): readonly Section[] {
  const { state } = facts
  return [
    standing(facts),
    part(decisions(state), {
      title: 'Decisions',
      things: 'decisions',
      command: SHOW.decisions,
      ...ranks(1, 60, 500),
      keep: 'last',
      earlier: state.decisions.earlier,
    }),
    part(rulings(state), {
      title: 'Ruled by the user, in their words',
      things: 'rulings',
      command: SHOW.activity,
      ...ranks(2, 50, 250),
      keep: 'last',
    }),
    part(keyContext(state), {
      title: 'Key context',
      things: 'lines of key context',
      command: SHOW.all,
      ...ranks(3, 60, 400),
      keep: 'last',
      earlier: state.key.earlier,
    }),
    part(discoveries(state), {
      title: 'Discoveries and gotchas',
      things: 'discoveries',
      command: SHOW.discoveries,
      ...ranks(5, 40, 300),
      keep: 'last',
      earlier: state.discoveries.earlier,
    }),
    part(facts.files.map(fileLine), {
      title: 'Files to review',
      things: 'files',
      command: SHOW.activity,
      ...ranks(4, 60, 500),
      earlier: state.keyFiles.earlier + state.changedFiles.earlier,
      isNumbered: true,
      lengths: [60, 40, 26],
    }),
    part(
      facts.verify.map(({ command, lastRun, verdict }) => ({
        text: safeLine(command),
        as: code,
        after: `${lastRun === '' ? '' : ` ${safeLine(lastRun).slice(0, 200)}`}: ${shownTag(verdict)}`,
      })),
      {
        title: 'Verify',
        things: 'test runs',
        command: SHOW.activity,
        ...ranks(0, 50, 250),
        lengths: [80, 50, 30],
      },
    ),
    part(facts.deliverables.map(fileLine), {
      title: 'Deliverables',
      things: 'deliverables',
      command: SHOW.all,
      ...ranks(6, 40, 200),
      lengths: [60, 40, 26],
    }),
    part(facts.tasks.map(claimed), {
      title: 'Tasks',
      things: 'tasks',
      command: 'stint task list',
      ...ranks(7, 40, 200),
    }),
    part(facts.commits.map(claimed), {
      title: 'Commits',
      things: 'commits',
      command: SHOW.activity,
      ...ranks(9, 30, 200),
      earlier: state.commits.earlier,
      lengths: [60, 36],
    }),
    part(
      facts.commands.map(({ says, verdict }) => ({
        text: safeLine(says),
        as: code,
        after: `: ${shownTag(verdict)}`,
      })),
      {
        title: 'Resume commands (shown, never run)',
        things: 'commands',
        command: SHOW.all,
        ...ranks(8, 30, 200),
        keep: 'last',
        earlier: state.commands.earlier,
      },
    ),
    part(
      (facts.project ?? []).map((line) => ({ text: plainLine(line) })),
      {
        title: 'The project',
        things: 'what the repository is',
        command: 'stint project',
        ...ranks(10, 0, 300),
      },
    ),
  ]
}

/** TL;DR, progress, the place, and what was said last. */
function standing({ state, where, madeBy, reason, to, createdAt }: HandoffFacts): Section {
  const { done, total } = stepCounts(state)
  const current = currentStep(state)
  const said = state.lastTurn?.said
  const failure = state.lastTurn?.failure
  const by =
    madeBy === undefined
      ? ''
      : ` in a conversation of ${safeLine(madeBy.harness)} (${safeLine(madeBy.conversation)}${madeBy.model === undefined ? '' : `, ${safeLine(madeBy.model)}`})`
  const items: readonly (Told | undefined)[] = [
    { before: 'TL;DR: ', text: safeLine(tldrOf(state)) },
    total === 0
      ? undefined
      : {
          before: `Progress: ${done}/${total} steps done`,
          text: current === undefined ? '.' : `; current: ${safeLine(current.text)}`,
        },
    ...where.map(claimed),
    failure === undefined
      ? undefined
      : { before: 'The last turn failed: ', text: safeLine(failure) },
    said === undefined ? undefined : { before: 'The agent said last: ', text: safeLine(said) },
    state.pauseNote === undefined
      ? undefined
      : { before: 'Paused: ', text: safeLine(state.pauseNote) },
    to === undefined ? undefined : { text: `For ${to.kind} ${safeLine(to.name)}.` },
    {
      before: `Made ${minute(createdAt)}`,
      text: `${by}${reason === undefined ? '' : `, because: ${safeLine(reason)}`}.`,
    },
  ]
  return part(
    items.filter((item) => item !== undefined),
    {
      title: 'Where things stand',
      things: 'where things stand',
      command: SHOW.all,
      ...ranks(0, 110, 450),
      lengths: [160, 100, 60, 36],
    },
  )
}

function decisions({ decisions: { items } }: SessionState): readonly Told[] {
  return items.map((decision) => ({ text: plainLine(decisionLine(decision)) }))
}

function rulings({ requests: { items } }: SessionState): readonly Told[] {
  return items.filter(({ isRuling }) => isRuling).map(({ text }) => ({ text: plainLine(text) }))
}

/** What was pinned, and what checkpoints drew from discoveries. Decisions and the discoveries below are told once. */
function keyContext(state: SessionState): readonly Told[] {
  const told = new Set([...state.decisions.items, ...state.discoveries.items].map(({ id }) => id))
  return state.key.items
    .filter(({ from }) => from === undefined || !told.has(from))
    .map(({ text }) => ({ text: plainLine(text) }))
}

function discoveries({ discoveries: { items } }: SessionState): readonly Told[] {
  return items.map(({ text, gotcha }) => ({
    ...(gotcha ? { before: 'Gotcha: ' } : {}),
    text: gotcha ? safeLine(text) : plainLine(text),
  }))
}

function fileLine({ path, why, verdict }: FileToReview): Told {
  const because = why === '' ? '' : `, ${safeLine(why).slice(0, 160)}`
  return { text: safeLine(path), as: code, after: `${because}: ${shownTag(verdict)}` }
}

function claimed({ says, verdict }: Claim): Told {
  return { text: plainLine(says), after: `: ${shownTag(verdict)}` }
}
