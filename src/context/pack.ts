import type { SessionState } from '../session/state.ts'
import { tldrOf } from '../session/tldr.ts'
import { safeLine } from '../text/safe-text.ts'
import { TOKEN_MARGIN, estimateLine, estimateTokens } from '../text/tokens.ts'
import { CHARACTERS_PER_TOKEN, MAX_TOKENS, costOfAll, shortenToCost } from './cost.ts'
import { fenceLines, fenced } from './fence.ts'
import {
  type FittedSection,
  LEFT_OUT_ROOM,
  type ContextSection,
  bullets,
  costOfFitted,
  fitSection,
  sectionFrame,
  leftOutLines,
  describeLeftOut,
  roomForLeftOut,
  shareRoom,
} from './section.ts'
import {
  CURRENT_ROOM,
  recentSections,
  stableSections,
  currentSections,
} from './session-sections.ts'

export interface PackOptions {
  /** `start` is what a new conversation begins with; `full` is what somebody who resumes asks for. */
  readonly level: 'start' | 'full'
  readonly conversation?: string
  /** The most tokens it may take; at least `LEAST_BUDGET`. Four characters count as a token. */
  readonly budget?: number
  /** What the repository is, one thing a line; it gets what the session leaves over. */
  readonly project?: string
}

export interface PackedContext {
  readonly text: string
  readonly mark: string
  /** What is not in it, each with the command that shows it. */
  readonly leftOut: readonly string[]
}

/** With less, the fence would be most of it. */
export const MIN_BUDGET = 300

/** It takes more only where its head needs it. */
const START_TOKENS = 1400

/** A session as injected context: bounded, fenced, what is settled first, and what had to be left out named. */
export function packContext(state: SessionState, options: PackOptions): PackedContext {
  const { text, mark, leftOut } = arrangeContext(state, options)
  return { text, mark, leftOut }
}

/** By how much a marker can be dearer than the one that is assumed. */
const DEARER_MARK = 4

export function arrangeContext(state: SessionState, options: PackOptions) {
  const { budget = MAX_TOKENS, project } = options
  let session = arrangeWithin(state, options, 0)
  // A marker's cost is known only when it is made.
  const mayBeOver = session.around + costOfFitted(session.fitted) > budget
  if (mayBeOver && isOver(session.text, budget))
    session = arrangeWithin(state, options, DEARER_MARK)
  return project === undefined ? session : withProject(state.name, session, project)
}

function isOver(text: string, budget: number) {
  return estimateTokens(text) > budget || text.length > budget * CHARACTERS_PER_TOKEN
}

function arrangeWithin(state: SessionState, options: PackOptions, spare: number) {
  const { budget = MAX_TOKENS } = options
  const fence = costOfAll(fenceLines(state.name)) + TOKEN_MARGIN
  const leftOutRoom = Math.min(LEFT_OUT_ROOM, Math.floor(budget / 10))
  const standingRoom = Math.min(CURRENT_ROOM, Math.floor((budget - fence - leftOutRoom) / 2))
  // The head's room does not depend on the rest, or its bytes would change with it.
  const settled = shareRoom(
    withRoom(stableSections(state), budget),
    budget - fence - standingRoom - leftOutRoom,
    'fair',
  )
  const spent = fence + costOfFitted(settled)
  const start = Math.max(START_TOKENS, spent + standingRoom + leftOutRoom)
  const limit = (options.level === 'full' ? budget : Math.min(budget, start)) - spare
  const others = [...currentSections(state), ...recentSections(state, options.conversation)]
  const fitInto = (room: number) => [...settled, ...shareRoom(others, room)]
  const noteRoom = Math.min(roomForLeftOut(describeLeftOut(fitInto(limit - spent))), leftOutRoom)
  const fitted = fitInto(limit - spent - noteRoom)
  return {
    ...composed(state.name, fitted, noteRoom),
    noteRoom,
    free: limit - fence - costOfFitted(fitted) - noteRoom,
  }
}

/** A larger budget gives each section more before others have all they wish for. */
function withRoom(sections: readonly ContextSection[], budget: number) {
  if (budget <= MAX_TOKENS) return sections
  return sections.map((section) => ({ ...section, fair: (section.fair * budget) / MAX_TOKENS }))
}

function composed(name: string, fitted: readonly FittedSection[], noteRoom: number) {
  const leftOut = describeLeftOut(fitted)
  const note = leftOutLines(leftOut, noteRoom)
  const { text, mark } = fenced(name, [...fitted.flatMap(({ lines }) => lines), ...note])
  const around = costOfAll([...fenceLines(name, mark), ...note]) + TOKEN_MARGIN
  return { text, mark, leftOut, fitted, around }
}

export const PROJECT_ROOM = 520
const NOTE_ROOM = 24

/** Where there is too little room even to name the project, nothing changes. */
function withProject(name: string, session: ReturnType<typeof arrangeWithin>, project: string) {
  const section = projectSection(project)
  const free = session.free - DEARER_MARK
  const fitInto = (room: number) => fitSection(section, Math.max(0, Math.min(PROJECT_ROOM, room)))
  const whole = fitInto(free)
  const isWhole = whole.shown === section.count && !whole.isShortened
  if (!isWhole && free < NOTE_ROOM) {
    const fitted = [...session.fitted, fitSection(section, 0)]
    return { ...session, fitted, leftOut: describeLeftOut(fitted) }
  }
  const noteRoom = isWhole ? 0 : NOTE_ROOM
  const fitted = [...session.fitted, isWhole ? whole : fitInto(free - NOTE_ROOM)]
  return composed(name, fitted, session.noteRoom + noteRoom)
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
  // They have dashes of their own where they are items of a list.
  return {
    ...section,
    lines: (shown, length) => section.lines(shown, length).map((line) => line.replace(/^- /, '')),
  }
}

export interface ExplainedSection {
  readonly section: string
  /** `all` of it, `some`, `none` for want of room, or `empty`: there is nothing to show. */
  readonly told: 'all' | 'some' | 'none' | 'empty'
  readonly tokens: number
  readonly shown: number
  readonly count: number
  /** Items were cut in the middle, and end in …. */
  readonly is_shortened: boolean
  readonly left_out: number
  /** Why, and the command that shows what is missing. */
  readonly why?: string
  readonly command?: string
}

/** Why a context holds what it holds. */
export interface ContextExplanation {
  readonly budget: number
  readonly tokens: number
  /** What the fence, the delivery marker and the line that names the left out cost. */
  readonly around: number
  readonly sections: readonly ExplainedSection[]
}

export function explainContext(state: SessionState, options: PackOptions): ContextExplanation {
  const { fitted, text } = arrangeContext(state, options)
  const { budget = MAX_TOKENS } = options
  const sections = fitted.map((each) => explained(each, budget))
  const tokens = estimateTokens(text)
  const around = tokens - sections.reduce((sum, section) => sum + section.tokens, 0)
  return { budget, tokens, around, sections }
}

function explained({ section, shown, lines, isShortened }: FittedSection, budget: number) {
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
  const some = shown === 0 ? 'none' : 'some'
  const told = total === shown ? 'all' : some
  return {
    section: things,
    told: total === 0 ? ('empty' as const) : (told as ExplainedSection['told']),
    tokens: lines.reduce((sum, line) => sum + estimateLine(line), 0),
    shown,
    count: total,
    is_shortened: isShortened,
    left_out: total - shown,
    ...(reasons.length === 0 ? {} : { why: reasons.join('; '), command }),
  }
}

const TLDR_ROOM = 160

/** For the summariser of a conversation. Plain text: a summariser would repeat a fence. */
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
  const sections = [
    ...currentSections(state).slice(1),
    ...stableSections(state).slice(1),
    ...recentSections(state),
  ]
  const fitted = shareRoom(sections, MAX_TOKENS - TOKEN_MARGIN - LEFT_OUT_ROOM - costOfAll(heading))
  return [
    ...heading,
    ...fitted.flatMap(({ lines }) => lines),
    ...leftOutLines(describeLeftOut(fitted)),
  ].join('\n')
}
