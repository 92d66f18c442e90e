import { decisionLine } from '../../document/progress-file.ts'
import { shortId } from '../../journal/ids.ts'
import { type SessionState, currentStep, openBlockers, stepCounts } from '../../session/state.ts'
import { tldrOf } from '../../session/tldr.ts'
import { safeLine } from '../../text/safe-text.ts'
import { formatToMinute } from '../../text/times.ts'
import { costOfAll, counted, shortenToCost } from '../text-size.ts'
import {
  type SectionFrame,
  VIEW_COMMANDS,
  type ContextSection,
  sectionFrame,
  listSection,
  takeFirstOrLast,
} from '../section.ts'
import type { FileToReview, HandoffFacts, SavedWork } from './gather-facts.ts'
import { codeSpan, markdownLine } from './markdown.ts'
import { type HandoffClaim, type Verdict, verdictTag } from './probes.ts'

/** One line of a section. Only its text is shortened, never the verdict. */
interface Item {
  readonly before?: string
  readonly text: string
  readonly after?: string
  readonly as?: (text: string) => string
}

const MAX_ITEMS = 100
const LENGTHS: readonly number[] = [120, 80, 55, 36]

function headed(title: string, lines: readonly string[]) {
  return ['', `## ${title}`, '', ...lines]
}

function itemSection(
  items: readonly Item[],
  frame: SectionFrame,
  bullet = (_index: number) => '-',
) {
  const near = takeFirstOrLast(items, MAX_ITEMS, frame.keep).filter(({ text }) => text !== '')
  return listSection(
    frame,
    LENGTHS,
    { items: near, leftOut: items.length - near.length },
    ({ before = '', text, after = '', as = String }, length) =>
      `${before}${as(shortenToCost(text, length))}${after}`,
    (lines) =>
      headed(
        frame.heading,
        lines.map((line, index) => `${bullet(index)} ${line}`),
      ),
  )
}

const numbered = (index: number) => `${index + 1}.`

/** Lines that are shown or left out together. */
function textSection(
  lines: (length: number) => readonly string[],
  frame: SectionFrame,
): ContextSection {
  return {
    lengths: LENGTHS,
    ...frame,
    count: 1,
    values: [1],
    itemCosts: (length) => [costOfAll(lines(length))],
    lines: (_shown, length) => headed(frame.heading, lines(length)),
  }
}

/** The tag quotes branches, paths and git messages, which are untrusted text. */
function shortTag(verdict: Verdict, isShort = false) {
  return shortenToCost(safeLine(verdictTag(verdict)), isShort ? 20 : 40)
}

function claimItem({ says, verdict }: HandoffClaim) {
  return { text: markdownLine(says), after: `: ${shortTag(verdict)}` }
}

function codeItem(text: string, after: string, verdict: Verdict) {
  return { text: safeLine(text), as: codeSpan, after: `${after}: ${shortTag(verdict)}` }
}

function fileItem({ path, why, verdict }: FileToReview) {
  return codeItem(path, why === '' ? '' : `, ${safeLine(why).slice(0, 160)}`, verdict)
}

function plainItem(text: string) {
  return { text: markdownLine(text) }
}

/** Never left out. */
export function vitalSections(facts: HandoffFacts): readonly ContextSection[] {
  const { state } = facts
  const blockers = openBlockers(state).map(({ text }) => markdownLine(text))
  return [
    textSection(
      (length) => [shortenToCost(markdownLine(objective(state)), length)],
      sectionFrame('Objective', 'objective', VIEW_COMMANDS.all, [0, 38, 180], {
        lengths: [160, 100, 60, 26],
      }),
    ),
    itemSection(
      nextActions(state).map(plainItem),
      sectionFrame('Next action', 'next steps', VIEW_COMMANDS.next, [1, 40, 220], {
        shelf: state.next,
        keep: 'first',
      }),
      numbered,
    ),
    itemSection(
      blockers.length === 0
        ? [{ text: 'None recorded.' }]
        : blockers.map((text) => ({ text: text || 'One that nobody described.' })),
      sectionFrame('Open blockers', 'open blockers', VIEW_COMMANDS.blockers, [2, 34, 200]),
    ),
    uncommittedWork(facts),
  ]
}

function objective({ goal, requests, title }: SessionState) {
  const known = [goal, requests.items[0]?.text ?? ''].find((text) => safeLine(text) !== '')
  return known ?? `Nobody wrote one; the session is called ${safeLine(title)}.`
}

function nextActions(state: SessionState) {
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
    if (paths === undefined) return [`Not known: ${shortTag(verdict)}.`]
    if (paths.length === 0) return [`None: ${shortTag(verdict)}.`]
    const named = paths.map((path) => codeSpan(safeLine(path))).join(', ')
    return [
      `${counted(paths.length, 'path')} not committed: ${shortTag(verdict, length === 0)}.`,
      ...(length === 0 ? [] : [`- ${shortenToCost(named, length)}`]),
      ...(kept === undefined
        ? ['- Kept nowhere but in this working tree; `stint checkpoint` keeps it.']
        : savedLines(kept, session, length)),
    ]
  }
  return textSection(
    lines,
    sectionFrame('Uncommitted work', 'uncommitted paths', 'git status', [3, 124, 330], {
      lengths: [200, 120, 60, 30, 0],
    }),
  )
}

function savedLines(saved: SavedWork, session: string, length: number) {
  const restore = `stint checkpoint restore ${shortId(saved.checkpoint)} --session ${session}`
  const large = saved.leftOut.map(safeLine).join(', ')
  return [
    `- Kept as commit ${codeSpan(saved.commit.slice(0, 12))} under ${codeSpan('refs/stint/')}: ${shortTag(saved.verdict, length === 0)}.`,
    `- ${codeSpan(restore)} brings it back.`,
    ...(saved.leftOut.length === 0 || length === 0
      ? []
      : [`- Too large to keep: ${shortenToCost(large, length)}`]),
  ]
}

function rulings({ statements }: SessionState) {
  return statements.items.filter(
    ({ speaker, kind }) => speaker === 'user' && (kind === 'rule' || kind === 'decision'),
  )
}

export function otherSections(facts: HandoffFacts): readonly ContextSection[] {
  const { state } = facts
  const { decisions, key, discoveries, commits, commands, keyFiles, changedFiles } = state
  // Decisions and discoveries have sections of their own.
  const shown = new Set([...decisions.items, ...discoveries.items].map(({ id }) => id))
  const first = 'first' as const
  return [
    statusSection(facts),
    itemSection(
      decisions.items.map((decision) => plainItem(decisionLine(decision))),
      sectionFrame('Decisions', 'decisions', VIEW_COMMANDS.decisions, [1, 60, 500], {
        shelf: decisions,
      }),
    ),
    itemSection(
      rulings(state).map(({ text }) => plainItem(text)),
      sectionFrame(
        'Ruled by the user, in their words',
        'rulings',
        VIEW_COMMANDS.activity,
        [2, 50, 250],
      ),
    ),
    itemSection(
      key.items
        .filter(({ from }) => from === undefined || !shown.has(from))
        .map(({ text }) => plainItem(text)),
      sectionFrame('Key context', 'lines of key context', VIEW_COMMANDS.all, [3, 60, 400], {
        shelf: key,
      }),
    ),
    itemSection(
      discoveries.items.map(({ text, gotcha }) =>
        gotcha ? { before: 'Gotcha: ', text: safeLine(text) } : plainItem(text),
      ),
      sectionFrame(
        'Discoveries and gotchas',
        'discoveries',
        VIEW_COMMANDS.discoveries,
        [5, 40, 300],
        {
          shelf: discoveries,
        },
      ),
    ),
    itemSection(
      facts.files.map(fileItem),
      sectionFrame('Files to review', 'files', VIEW_COMMANDS.activity, [4, 60, 500], {
        shelf: { earlier: keyFiles.earlier + changedFiles.earlier },
        keep: first,
        lengths: [60, 40, 26],
      }),
      numbered,
    ),
    itemSection(
      facts.verify.map(({ command, lastRun, verdict }) =>
        codeItem(command, lastRun === '' ? '' : ` ${safeLine(lastRun).slice(0, 200)}`, verdict),
      ),
      sectionFrame('Verify', 'test runs', VIEW_COMMANDS.activity, [0, 50, 250], {
        keep: first,
        lengths: [80, 50, 30],
      }),
    ),
    itemSection(
      facts.deliverables.map(fileItem),
      sectionFrame('Deliverables', 'deliverables', VIEW_COMMANDS.all, [6, 40, 200], {
        keep: first,
        lengths: [60, 40, 26],
      }),
    ),
    itemSection(
      facts.tasks.map(claimItem),
      sectionFrame('Tasks', 'tasks', 'stint task list', [7, 40, 200], { keep: first }),
    ),
    itemSection(
      facts.commits.map(claimItem),
      sectionFrame('Commits', 'commits', VIEW_COMMANDS.activity, [9, 30, 200], {
        shelf: commits,
        keep: first,
        lengths: [60, 36],
      }),
    ),
    itemSection(
      facts.commands.map(({ says, verdict }) => codeItem(says, '', verdict)),
      sectionFrame(
        'Resume commands (shown, never run)',
        'commands',
        VIEW_COMMANDS.all,
        [8, 30, 200],
        {
          shelf: commands,
        },
      ),
    ),
    itemSection(
      (facts.project ?? []).map(plainItem),
      sectionFrame('The project', 'what the repository is', 'stint project', [10, 0, 300], {
        keep: first,
      }),
    ),
  ]
}

function statusSection(facts: HandoffFacts) {
  const { state, where, madeBy, reason, to, createdAt } = facts
  const { done, total } = stepCounts(state)
  const current = currentStep(state)
  const model = madeBy?.model === undefined ? '' : `, ${safeLine(madeBy.model)}`
  const by =
    madeBy === undefined
      ? ''
      : ` in a conversation of ${safeLine(madeBy.harness)} (${safeLine(madeBy.conversation)}${model})`
  const labelled = (before: string, text: string | undefined) =>
    text === undefined ? [] : [{ before, text: safeLine(text) }]
  const steps = current === undefined ? '.' : `; current: ${safeLine(current.text)}`
  const items: readonly Item[] = [
    ...labelled('TL;DR: ', tldrOf(state)),
    ...(total === 0 ? [] : [{ before: `Progress: ${done}/${total} steps done`, text: steps }]),
    ...where.map(claimItem),
    ...labelled('The last turn failed: ', state.lastTurn?.failure),
    ...labelled('The agent said last: ', state.lastTurn?.said),
    ...labelled('Paused: ', state.pauseNote),
    ...(to === undefined ? [] : [{ text: `For ${to.kind} ${safeLine(to.name)}.` }]),
    {
      before: `Made ${formatToMinute(createdAt)}`,
      text: `${by}${reason === undefined ? '' : `, because: ${safeLine(reason)}`}.`,
    },
  ]
  return itemSection(
    items,
    sectionFrame('Where things stand', 'where things stand', VIEW_COMMANDS.all, [0, 110, 450], {
      keep: 'first',
      lengths: [160, 100, 60, 36],
    }),
  )
}
