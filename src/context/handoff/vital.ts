// What a successor cannot do without. It stands first, and is never left out.
import { SHOW } from '../commands.ts'
import { counted } from '../counted.ts'
import { shortenToCost } from '../cost.ts'
import { safeLine } from '../../text/safe-text.ts'
import type { Section } from '../section.ts'
import { shortId } from '../../journal/ids.ts'
import { type SessionState, currentStep, openBlockers } from '../../session/state.ts'
import type { HandoffFacts, KeptWork } from './facts.ts'
import { code, plainLine } from './markdown.ts'
import { part, passage } from './parts.ts'
import { shownTag } from './shown-tag.ts'

export function vitalParts(facts: HandoffFacts): readonly Section[] {
  const { state } = facts
  const blockers = openBlockers(state)
  return [
    passage((length) => [short(plainLine(objective(state)), length)], {
      title: 'Objective',
      things: 'objective',
      command: SHOW.all,
      rank: 0,
      reserve: 38,
      fair: 180,
      lengths: [160, 100, 60, 26],
    }),
    nextActions(state),
    part(
      blockers.length === 0
        ? [{ text: 'None recorded.' }]
        : blockers.map(({ text }) => ({ text: plainLine(text) || 'One that nobody described.' })),
      {
        title: 'Open blockers',
        things: 'open blockers',
        command: SHOW.blockers,
        rank: 2,
        reserve: 34,
        fair: 200,
        keep: 'last',
      },
    ),
    uncommittedWork(facts),
  ]
}

function objective({ goal, requests, title }: SessionState): string {
  const known = [goal, requests.items[0]?.text ?? ''].find((text) => safeLine(text) !== '')
  return known ?? `Nobody wrote one; the session is called ${safeLine(title)}.`
}

/** One action first, and what comes after it. */
function nextActions(state: SessionState): Section {
  const [first, ...later] = upcoming(state)
  const items = [
    first ?? 'Nothing is recorded as next: ask the user, or start from where things stand.',
    ...later,
  ]
  return part(
    items.map((text) => ({ text: plainLine(text) })),
    {
      title: 'Next action',
      things: 'next steps',
      command: SHOW.next,
      rank: 1,
      reserve: 40,
      fair: 220,
      isNumbered: true,
      earlier: state.next.earlier,
    },
  )
}

function upcoming(state: SessionState): readonly string[] {
  const current = currentStep(state)
  const steps = state.steps.items.filter(
    (step) => step.status !== 'done' && step.id !== current?.id,
  )
  const failing = state.tests.items.findLast((run) => !run.passed)
  const asked = state.requests.items.at(-1)?.text
  const recorded = [
    ...state.next.items.map(({ text }) => text),
    ...(current === undefined ? [] : [current.text]),
    ...steps.map(({ text }) => text),
  ].filter((text) => safeLine(text) !== '')
  if (recorded.length > 0) return [...new Set(recorded)].slice(0, 8)
  if (failing !== undefined) return [`Make ${failing.text} pass.`]
  return asked === undefined ? [] : [`Go on with what was asked for last: ${asked}`]
}

function uncommittedWork(facts: HandoffFacts): Section {
  const { uncommitted, git, state } = facts
  const { paths, verdict, kept } = uncommitted
  const frame = {
    title: 'Uncommitted work',
    things: 'uncommitted paths',
    command: 'git status',
    rank: 3,
    reserve: 124,
    fair: 330,
    lengths: [200, 120, 60, 30, 0],
  }
  if (git === undefined)
    return passage(() => ['There is no git repository here: nothing of the files is kept.'], frame)
  if (paths === undefined) return passage(() => [`Not known: ${shownTag(verdict)}.`], frame)
  if (paths.length === 0) return passage(() => [`None: ${shownTag(verdict)}.`], frame)
  const named = paths.map((path) => code(safeLine(path))).join(', ')
  return passage(
    (length) => [
      `${counted(paths.length, 'path')} not committed: ${shownTag(verdict, length === 0)}.`,
      ...(length === 0 ? [] : [`- ${short(named, length)}`]),
      ...(kept === undefined
        ? ['- Kept nowhere but in this working tree; `stint checkpoint` keeps it.']
        : keptLines(
            kept,
            /^[a-z0-9-]{1,40}$/.test(state.name) ? state.name : shortId(state.id),
            length,
          )),
    ],
    frame,
  )
}

function keptLines(kept: KeptWork, session: string, length: number): readonly string[] {
  const restore = `stint checkpoint restore ${shortId(kept.checkpoint)} --session ${session}`
  const without =
    kept.leftOut.length === 0 || length === 0
      ? []
      : [`- Too large to keep: ${short(kept.leftOut.map(safeLine).join(', '), length)}`]
  return [
    `- Kept as commit ${code(kept.commit.slice(0, 12))} under ${code('refs/stint/')}: ${shownTag(kept.verdict, length === 0)}.`,
    `- ${code(restore)} brings it back.`,
    ...without,
  ]
}

function short(text: string, length: number): string {
  return shortenToCost(text, length)
}
