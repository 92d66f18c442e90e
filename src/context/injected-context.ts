import type { SessionState } from '../session/state.ts'
import { tldrOf } from '../session/tldr.ts'
import { safeLine } from '../text/safe-text.ts'
import { TOKEN_MARGIN, estimateLine, estimateTokens } from '../text/tokens.ts'
import { CHARACTERS_PER_TOKEN, MAX_TOKENS, costOfAll, shortenToCost } from './text-size.ts'
import { type FenceSubject, fenceLines, fenced } from './fence.ts'
import {
  type FittedSection,
  LEFT_OUT_ROOM,
  type ContextSection,
  bullets,
  costOfFitted,
  fitSection,
  fullCostOf,
  sectionFrame,
  leftOutLines,
  describeLeftOut,
  roomForLeftOut,
  shareByValue,
  shareRoom,
} from './section.ts'
import { type SectionGroups, sectionGroups } from './session-sections.ts'
import { lazily } from '../text/lazily.ts'

export interface PackOptions {
  readonly conversation?: string
  /** Token limit, at least `MIN_BUDGET`. Four characters count as a token, too. */
  readonly budget?: number
  /** The project context, one fact per line. It gets the room that the session leaves. */
  readonly project?: string
  /** Parts of the journal come from another machine, which the text says. */
  readonly isForeign?: boolean
}

export interface PackedContext {
  readonly text: string
  readonly mark: string
  /** What was left out, each with the command that shows it. */
  readonly leftOut: readonly string[]
}

/** Below this, most of the text would be the fence. */
export const MIN_BUDGET = 300

/** What captured entries get even if recorded ones need the whole budget, as a share of it. */
const CAPTURED_SHARE = 0.06

export function packContext(state: SessionState, options: PackOptions = {}): PackedContext {
  const { text, mark, leftOut } = arrangeContext(state, options)
  return { text, mark, leftOut }
}

/** For the line that names what is left out; what does not fit in it is shown by `stint pack --explain`. */
const NOTE_ROOM = 70

/** A text that mixes English with another language may have a few more tokens than estimated. */
const ESTIMATE_SLACK = 0.015

/** How many more tokens a marker can cost than the assumed one. */
const MARKER_SLACK = 4

export function arrangeContext(state: SessionState, options: PackOptions) {
  const { budget = MAX_TOKENS, project } = options
  let session = arrangeWithin(state, options, 0)
  // The cost of the marker is known only once the text is complete.
  const mayBeOver = session.around + costOfFitted(session.fitted) > budget
  if (mayBeOver && isOver(session.text, budget))
    session = arrangeWithin(state, options, MARKER_SLACK)
  return project === undefined ? session : withProject(subjectOf(state, options), session, project)
}

function subjectOf({ name }: SessionState, { isForeign = false }: PackOptions): FenceSubject {
  return { name, isForeign }
}

function isOver(text: string, budget: number) {
  return estimateTokens(text) > budget || text.length > budget * CHARACTERS_PER_TOKEN
}

function arrangeWithin(state: SessionState, options: PackOptions, spare: number) {
  const { budget = MAX_TOKENS } = options
  const fence = costOfAll(fenceLines(subjectOf(state, options))) + TOKEN_MARGIN
  const leftOutRoom = Math.min(NOTE_ROOM, Math.floor(budget / 10))
  const limit = budget - spare - fence - Math.ceil(ESTIMATE_SLACK * budget)
  const { conversation } = options
  const groups = sectionGroups(state, { conversation })
  const briefHead = lazily(() => sectionGroups(state, { conversation, isBrief: true }).head)
  const fitInto = (room: number) => fitGroups(groups, briefHead, room, limit - leftOutRoom)
  const noteRoom = Math.min(roomForLeftOut(describeLeftOut(fitInto(limit))), leftOutRoom)
  const fitted = fitInto(limit - noteRoom)
  return {
    ...composeContext(subjectOf(state, options), fitted, noteRoom),
    noteRoom,
    free: limit - costOfFitted(fitted) - noteRoom,
  }
}

/** The most that pinned lines and decisions may take, whatever else there is. */
const HEAD_SHARE = 0.6
/** Up to this share, decisions are shown with their reasons. */
const FULL_HEAD_SHARE = 0.15
const INTRO_SHARE = 0.2
const STATUS_SHARE = 0.2
/** Even of a small budget: name, objective and TL;DR come before everything else. */
const MIN_INTRO = 90
const MIN_STATUS = 84

/** All of what is recorded if it fits, and what was captured in the rest; otherwise by value. */
function fitGroups(
  { intro, head, status, openWork, recorded, captured }: SectionGroups,
  briefHead: () => readonly ContextSection[],
  room: number,
  /** Does not depend on what is left out, so that the head does not either. */
  stableRoom: number,
): readonly FittedSection[] {
  const all = [...intro, ...head, ...status, ...openWork, ...recorded]
  if (fullCostOf(all) <= (1 - CAPTURED_SHARE) * room) {
    const fitted = shareRoom(all, room)
    return [...fitted, ...shareByValue(captured, room - costOfFitted(fitted))]
  }
  // The first request is among the requests.
  const begin = [
    ...shareRoom(intro.slice(0, 2), Math.max(INTRO_SHARE * stableRoom, MIN_INTRO)),
    fitSection(intro[2]!, 0),
  ]
  const statusRoom = Math.max(STATUS_SHARE * stableRoom, MIN_STATUS)
  // What it shows must not depend on the rest, or its bytes would change with it.
  const ownHead = fullCostOf(head) > FULL_HEAD_SHARE * stableRoom ? briefHead() : head
  const headRoom = Math.min(HEAD_SHARE * stableRoom, stableRoom - costOfFitted(begin) - statusRoom)
  const first = shareByValue(ownHead, headRoom)
  const now = shareRoom(status, statusRoom)
  const spent = costOfFitted([...begin, ...first, ...now])
  const open = shareByValue(openWork, room - spent)
  const rest = shareByValue([...recorded, ...captured], room - spent - costOfFitted(open))
  return [...begin, ...first, ...now, ...open, ...rest]
}

function composeContext(subject: FenceSubject, fitted: readonly FittedSection[], noteRoom: number) {
  const leftOut = describeLeftOut(fitted)
  const note = leftOutLines(leftOut, noteRoom)
  const { text, mark } = fenced(subject, [...fitted.flatMap(({ lines }) => lines), ...note])
  const around = costOfAll([...fenceLines(subject, mark), ...note]) + TOKEN_MARGIN
  return { text, mark, leftOut, fitted, around }
}

export const PROJECT_ROOM = 520
const PROJECT_NOTE_ROOM = 24

/** Without room even for the project's name, the text stays unchanged. */
function withProject(
  subject: FenceSubject,
  session: ReturnType<typeof arrangeWithin>,
  project: string,
) {
  const section = projectSection(project)
  const free = session.free - MARKER_SLACK
  const fitInto = (room: number) => fitSection(section, Math.max(0, Math.min(PROJECT_ROOM, room)))
  const full = fitInto(free)
  const isComplete = full.shown === section.count && !full.isShortened
  if (!isComplete && free < PROJECT_NOTE_ROOM) {
    const fitted = [...session.fitted, fitSection(section, 0)]
    return { ...session, fitted, leftOut: describeLeftOut(fitted) }
  }
  const noteRoom = isComplete ? 0 : PROJECT_NOTE_ROOM
  const fitted = [...session.fitted, isComplete ? full : fitInto(free - PROJECT_NOTE_ROOM)]
  return composeContext(subject, fitted, session.noteRoom + noteRoom)
}

function projectSection(text: string): ContextSection {
  const section = bullets(
    text.split('\n').filter((line) => line.trim() !== ''),
    sectionFrame(
      'The project, as read from its repository:',
      'lines on the project',
      'stint project',
      [Infinity, 0, PROJECT_ROOM],
      { keep: 'first', lengths: [130] },
    ),
  )
  // List items of the project context have dashes of their own.
  return {
    ...section,
    lines: (shown, length) => section.lines(shown, length).map((line) => line.replace(/^- /, '')),
  }
}

export interface ExplainedSection {
  readonly section: string
  /** `none` for lack of room; `empty` if there are no items. */
  readonly told: 'all' | 'some' | 'none' | 'empty'
  readonly tokens: number
  readonly shown: number
  readonly count: number
  /** Items were cut and end in …. */
  readonly is_shortened: boolean
  readonly left_out: number
  /** Why items are missing; `command` shows them. */
  readonly why?: string
  readonly command?: string
}

export interface ContextExplanation {
  readonly budget: number
  readonly tokens: number
  /** Tokens of the fence, the delivery marker and the left-out line. */
  readonly around: number
  readonly sections: readonly ExplainedSection[]
}

export function explainContext(state: SessionState, options: PackOptions): ContextExplanation {
  const { fitted, text } = arrangeContext(state, options)
  const { budget = MAX_TOKENS } = options
  const sections = fitted.map((each) => explainSection(each, budget))
  const tokens = estimateTokens(text)
  const around = tokens - sections.reduce((sum, section) => sum + section.tokens, 0)
  return { budget, tokens, around, sections }
}

function explainSection({ section, shown, lines, isShortened }: FittedSection, budget: number) {
  const { things, command, count, earlier } = section
  const total = count + earlier
  const room =
    section.rank === Infinity
      ? `it has what the session leaves over of ${budget} tokens, ${PROJECT_ROOM} at most`
      : `its share of ${budget} tokens is spent`
  const reasons = [
    count > shown ? `${count - shown} had no room: ${room}` : '',
    earlier > 0 ? `${earlier} are older than what is looked at` : '',
    isShortened ? 'what ends in … was cut to make room for others' : '',
  ].filter((reason) => reason !== '')
  return {
    section: things,
    told: shownExtent(shown, total),
    tokens: lines.reduce((sum, line) => sum + estimateLine(line), 0),
    shown,
    count: total,
    is_shortened: isShortened,
    left_out: total - shown,
    ...(reasons.length === 0 ? {} : { why: reasons.join('; '), command }),
  }
}

function shownExtent(shown: number, total: number): ExplainedSection['told'] {
  if (total === 0) return 'empty'
  if (shown === total) return 'all'
  return shown === 0 ? 'none' : 'some'
}

const TLDR_ROOM = 160

/** Plain text, because a summariser would repeat a fence. */
export function textForSummariser(
  state: SessionState,
  options: { readonly compaction: number },
): string {
  const heading = [
    '💾 Pre-Compaction Checkpoint',
    `Session: ${shortenToCost(safeLine(state.name), 40)}`,
    `Compaction: #${options.compaction}`,
    '',
    '## TL;DR',
    shortenToCost(safeLine(tldrOf(state)), TLDR_ROOM),
    '',
    "## From the session's journal, to be kept in the summary",
  ]
  const { intro, head, status, openWork, recorded, captured } = sectionGroups(state)
  const sections = [
    ...status.slice(1),
    ...openWork,
    ...intro.slice(1),
    ...head,
    ...recorded,
    ...captured,
  ]
  const fitted = shareRoom(sections, MAX_TOKENS - TOKEN_MARGIN - LEFT_OUT_ROOM - costOfAll(heading))
  return [
    ...heading,
    ...fitted.flatMap(({ lines }) => lines),
    ...leftOutLines(describeLeftOut(fitted)),
  ].join('\n')
}
