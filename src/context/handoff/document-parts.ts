import { decisionLine } from '../../document/progress.ts'
import { shortId } from '../../journal/ids.ts'
import { type SessionState, currentStep, openBlockers, stepCounts } from '../../session/state.ts'
import { tldrOf } from '../../session/tldr.ts'
import { safeLine } from '../../text/safe-text.ts'
import { minute } from '../../text/times.ts'
import { counted, shortenToCost } from '../cost.ts'
import { type Frame, SHOW, type Section, frame, listSection, nearest } from '../section.ts'
import type { FileToReview, HandoffFacts, KeptWork } from './gather-facts.ts'
import { code, plainLine } from './markdown.ts'
import { type Claim, type Verdict, tagOf } from './probes.ts'

/** One line of a part. Only its text is shortened; what was checked stays whole. */
interface Item {
  readonly before?: string
  readonly text: string
  readonly after?: string
  readonly as?: (text: string) => string
}

const MOST = 100
const LENGTHS: readonly number[] = [120, 80, 55, 36]

function headed(title: string, lines: readonly string[]) {
  return ['', `## ${title}`, '', ...lines]
}

function part(items: readonly Item[], given: Frame, bullet = (_index: number) => '-') {
  const near = nearest(items, MOST, given.keep).filter(({ text }) => text !== '')
  return listSection(
    given,
    LENGTHS,
    { items: near, leftOut: items.length - near.length },
    ({ before = '', text, after = '', as = String }, length) =>
      `${before}${as(shortenToCost(text, length))}${after}`,
    (lines) =>
      headed(
        given.heading,
        lines.map((line, index) => `${bullet(index)} ${line}`),
      ),
  )
}

const numbered = (index: number) => `${index + 1}.`

/** Lines that are shown or left out together. */
function passage(lines: (length: number) => readonly string[], given: Frame): Section {
  return {
    lengths: LENGTHS,
    ...given,
    count: 1,
    lines: (_shown, length) => headed(given.heading, lines(length)),
  }
}

/** It names branches, paths and what git said, which are text as everything else. */
function shownTag(verdict: Verdict, isShort = false) {
  return shortenToCost(safeLine(tagOf(verdict)), isShort ? 20 : 40)
}

function claimed({ says, verdict }: Claim) {
  return { text: plainLine(says), after: `: ${shownTag(verdict)}` }
}

function codeItem(text: string, after: string, verdict: Verdict) {
  return { text: safeLine(text), as: code, after: `${after}: ${shownTag(verdict)}` }
}

function fileItem({ path, why, verdict }: FileToReview) {
  return codeItem(path, why === '' ? '' : `, ${safeLine(why).slice(0, 160)}`, verdict)
}

function plainItem(text: string) {
  return { text: plainLine(text) }
}

/** What a successor needs first; never left out. */
export function vitalParts(facts: HandoffFacts): readonly Section[] {
  const { state } = facts
  const blockers = openBlockers(state).map(({ text }) => plainLine(text))
  return [
    passage(
      (length) => [shortenToCost(plainLine(objective(state)), length)],
      frame('Objective', 'objective', SHOW.all, [0, 38, 180], { lengths: [160, 100, 60, 26] }),
    ),
    part(
      upcoming(state).map(plainItem),
      frame('Next action', 'next steps', SHOW.next, [1, 40, 220], {
        shelf: state.next,
        keep: 'first',
      }),
      numbered,
    ),
    part(
      blockers.length === 0
        ? [{ text: 'None recorded.' }]
        : blockers.map((text) => ({ text: text || 'One that nobody described.' })),
      frame('Open blockers', 'open blockers', SHOW.blockers, [2, 34, 200]),
    ),
    uncommittedWork(facts),
  ]
}

function objective({ goal, requests, title }: SessionState) {
  const known = [goal, requests.items[0]?.text ?? ''].find((text) => safeLine(text) !== '')
  return known ?? `Nobody wrote one; the session is called ${safeLine(title)}.`
}

function upcoming(state: SessionState) {
  const current = currentStep(state)
  const steps = state.steps.items.filter(
    ({ id, status }) => status !== 'done' && id !== current?.id,
  )
  const failing = state.tests.items.findLast((run) => !run.passed)
  const asked = state.requests.items.at(-1)
  const recorded = [...state.next.items, ...(current === undefined ? [] : [current]), ...steps]
    .map(({ text }) => text)
    .filter((text) => safeLine(text) !== '')
  if (recorded.length > 0) return [...new Set(recorded)].slice(0, 8)
  if (failing !== undefined) return [`Make ${failing.text} pass.`]
  return [
    asked === undefined
      ? 'Nothing is recorded as next: ask the user, or start from where things stand.'
      : `Go on with what was asked for last: ${asked.text}`,
  ]
}

function uncommittedWork({ uncommitted, git, state }: HandoffFacts) {
  const { paths, verdict, kept } = uncommitted
  const session = /^[a-z0-9-]{1,40}$/.test(state.name) ? state.name : shortId(state.id)
  const lines = (length: number) => {
    if (git === undefined) return ['There is no git repository here: nothing of the files is kept.']
    if (paths === undefined) return [`Not known: ${shownTag(verdict)}.`]
    if (paths.length === 0) return [`None: ${shownTag(verdict)}.`]
    const named = paths.map((path) => code(safeLine(path))).join(', ')
    return [
      `${counted(paths.length, 'path')} not committed: ${shownTag(verdict, length === 0)}.`,
      ...(length === 0 ? [] : [`- ${shortenToCost(named, length)}`]),
      ...(kept === undefined
        ? ['- Kept nowhere but in this working tree; `stint checkpoint` keeps it.']
        : keptLines(kept, session, length)),
    ]
  }
  return passage(
    lines,
    frame('Uncommitted work', 'uncommitted paths', 'git status', [3, 124, 330], {
      lengths: [200, 120, 60, 30, 0],
    }),
  )
}

function keptLines(kept: KeptWork, session: string, length: number) {
  const restore = `stint checkpoint restore ${shortId(kept.checkpoint)} --session ${session}`
  const large = kept.leftOut.map(safeLine).join(', ')
  return [
    `- Kept as commit ${code(kept.commit.slice(0, 12))} under ${code('refs/stint/')}: ${shownTag(kept.verdict, length === 0)}.`,
    `- ${code(restore)} brings it back.`,
    ...(kept.leftOut.length === 0 || length === 0
      ? []
      : [`- Too large to keep: ${shortenToCost(large, length)}`]),
  ]
}

export function otherParts(facts: HandoffFacts): readonly Section[] {
  const { state } = facts
  const { decisions, key, discoveries, commits, commands, keyFiles, changedFiles } = state
  // Decisions and discoveries are shown once.
  const shown = new Set([...decisions.items, ...discoveries.items].map(({ id }) => id))
  const first = 'first' as const
  return [
    whereThingsStand(facts),
    part(
      decisions.items.map((decision) => plainItem(decisionLine(decision))),
      frame('Decisions', 'decisions', SHOW.decisions, [1, 60, 500], { shelf: decisions }),
    ),
    part(
      state.requests.items.filter(({ isRuling }) => isRuling).map(({ text }) => plainItem(text)),
      frame('Ruled by the user, in their words', 'rulings', SHOW.activity, [2, 50, 250]),
    ),
    part(
      key.items
        .filter(({ from }) => from === undefined || !shown.has(from))
        .map(({ text }) => plainItem(text)),
      frame('Key context', 'lines of key context', SHOW.all, [3, 60, 400], { shelf: key }),
    ),
    part(
      discoveries.items.map(({ text, gotcha }) =>
        gotcha ? { before: 'Gotcha: ', text: safeLine(text) } : plainItem(text),
      ),
      frame('Discoveries and gotchas', 'discoveries', SHOW.discoveries, [5, 40, 300], {
        shelf: discoveries,
      }),
    ),
    part(
      facts.files.map(fileItem),
      frame('Files to review', 'files', SHOW.activity, [4, 60, 500], {
        shelf: { earlier: keyFiles.earlier + changedFiles.earlier },
        keep: first,
        lengths: [60, 40, 26],
      }),
      numbered,
    ),
    part(
      facts.verify.map(({ command, lastRun, verdict }) =>
        codeItem(command, lastRun === '' ? '' : ` ${safeLine(lastRun).slice(0, 200)}`, verdict),
      ),
      frame('Verify', 'test runs', SHOW.activity, [0, 50, 250], {
        keep: first,
        lengths: [80, 50, 30],
      }),
    ),
    part(
      facts.deliverables.map(fileItem),
      frame('Deliverables', 'deliverables', SHOW.all, [6, 40, 200], {
        keep: first,
        lengths: [60, 40, 26],
      }),
    ),
    part(
      facts.tasks.map(claimed),
      frame('Tasks', 'tasks', 'stint task list', [7, 40, 200], { keep: first }),
    ),
    part(
      facts.commits.map(claimed),
      frame('Commits', 'commits', SHOW.activity, [9, 30, 200], {
        shelf: commits,
        keep: first,
        lengths: [60, 36],
      }),
    ),
    part(
      facts.commands.map(({ says, verdict }) => codeItem(says, '', verdict)),
      frame('Resume commands (shown, never run)', 'commands', SHOW.all, [8, 30, 200], {
        shelf: commands,
      }),
    ),
    part(
      (facts.project ?? []).map(plainItem),
      frame('The project', 'what the repository is', 'stint project', [10, 0, 300], {
        keep: first,
      }),
    ),
  ]
}

function whereThingsStand(facts: HandoffFacts) {
  const { state, where, madeBy, reason, to, createdAt } = facts
  const { done, total } = stepCounts(state)
  const current = currentStep(state)
  const model = madeBy?.model === undefined ? '' : `, ${safeLine(madeBy.model)}`
  const by =
    madeBy === undefined
      ? ''
      : ` in a conversation of ${safeLine(madeBy.harness)} (${safeLine(madeBy.conversation)}${model})`
  const said = (before: string, text: string | undefined) =>
    text === undefined ? [] : [{ before, text: safeLine(text) }]
  const steps = current === undefined ? '.' : `; current: ${safeLine(current.text)}`
  const items: readonly Item[] = [
    ...said('TL;DR: ', tldrOf(state)),
    ...(total === 0 ? [] : [{ before: `Progress: ${done}/${total} steps done`, text: steps }]),
    ...where.map(claimed),
    ...said('The last turn failed: ', state.lastTurn?.failure),
    ...said('The agent said last: ', state.lastTurn?.said),
    ...said('Paused: ', state.pauseNote),
    ...(to === undefined ? [] : [{ text: `For ${to.kind} ${safeLine(to.name)}.` }]),
    {
      before: `Made ${minute(createdAt)}`,
      text: `${by}${reason === undefined ? '' : `, because: ${safeLine(reason)}`}.`,
    },
  ]
  return part(
    items,
    frame('Where things stand', 'where things stand', SHOW.all, [0, 110, 450], {
      keep: 'first',
      lengths: [160, 100, 60, 36],
    }),
  )
}
