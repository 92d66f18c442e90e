import type { SessionState } from '../session/state.ts'
import { CHARACTERS_PER_TOKEN, MAX_TOKENS, costOfAll } from './cost.ts'
import { fenceLines, fenced } from './fence.ts'
import { latelySections } from './lately.ts'
import { LEFT_OUT_ROOM, leftOutLines, leftOutOf, roomForLeftOut } from './left-out.ts'
import { fitProject, projectSection } from './project-section.ts'
import { type Fitted, type Section, fit } from './section.ts'
import { settledSections } from './settled.ts'
import { share } from './share.ts'
import { STANDING_ROOM, standingSections } from './standing.ts'
import { MARGIN, estimateTokens } from '../text/tokens.ts'

export interface PackOptions {
  /** `start` is what a new conversation begins with; `full` is what somebody who goes on asks for. */
  readonly level: 'start' | 'full'
  /** The conversation it is given to, to tell whose last words these are. */
  readonly conversation?: string
  /** The most tokens it may take; at least `LEAST_BUDGET`. Four characters count as a token. */
  readonly budget?: number
  /** What the repository is, one thing a line; told in what the session leaves over. */
  readonly project?: string
}

export interface PackedContext {
  readonly text: string
  /** How the text is recognised where it arrived. */
  readonly mark: string
  /** What is not in it, each with the command that shows it. */
  readonly leftOut: readonly string[]
}

/** With less, the fence would be most of it. */
export const LEAST_BUDGET = 300

/** What a record at the start of a conversation is meant to cost. It takes more only where its head needs it. */
const START_TOKENS = 1400

/** A session as a model is given it: bounded, fenced, what is settled first, and what had to be left out named. */
export function packContext(state: SessionState, options: PackOptions): PackedContext {
  const { text, mark, leftOut } = arrange(state, options)
  return { text, mark, leftOut }
}

/** A context with what it was made of, section by section in its order. */
export interface Arranged extends PackedContext {
  readonly fitted: readonly Fitted[]
  /** What all that is no section costs: the fence, the mark, the line that names the left out. */
  readonly around: number
}

export function arrange(state: SessionState, options: PackOptions): Arranged {
  const session = arrangeSession(state, options)
  return options.project === undefined ? session : withProject(state.name, session, options.project)
}

interface ArrangedSession extends Arranged {
  /** What naming the left out may cost. */
  readonly noteRoom: number
  /** What is left over. */
  readonly free: number
}

/** By how much a mark can be dearer than the one that is reckoned with. */
const DEARER_MARK = 4

function arrangeSession(state: SessionState, options: PackOptions): ArrangedSession {
  const first = arrangeWithin(state, options, 0)
  const budget = options.budget ?? MAX_TOKENS
  // What a mark costs is known when there is one, for it is the sum of what stands above it.
  const mayBeOver = first.around + costOf(first.fitted) > budget
  return mayBeOver && isOver(first.text, budget)
    ? arrangeWithin(state, options, DEARER_MARK)
    : first
}

function arrangeWithin(state: SessionState, options: PackOptions, spare: number): ArrangedSession {
  const budget = options.budget ?? MAX_TOKENS
  const fence = costOfAll(fenceLines(state.name)) + MARGIN
  const leftOutRoom = Math.min(LEFT_OUT_ROOM, Math.floor(budget / 10))
  // Where things stand has its room, or half of what there is.
  const standingRoom = Math.min(STANDING_ROOM, Math.floor((budget - fence - leftOutRoom) / 2))
  // The room of the head is the same whatever else there is to tell, or its bytes would change with it.
  const settled = share(
    withRoom(settledSections(state), budget),
    budget - fence - standingRoom - leftOutRoom,
    'fair',
  )
  const spent = fence + costOf(settled)
  const start = Math.max(START_TOKENS, spent + standingRoom + leftOutRoom)
  const limit = (options.level === 'full' ? budget : Math.min(budget, start)) - spare
  const others = [...standingSections(state), ...latelySections(state, options.conversation)]
  const told = (room: number) => [...settled, ...share(others, room)]
  const noteRoom = Math.min(roomForLeftOut(leftOutOf(told(limit - spent))), leftOutRoom)
  const fitted = told(limit - spent - noteRoom)
  return {
    ...composed(state.name, fitted, noteRoom),
    noteRoom,
    free: limit - fence - costOf(fitted) - noteRoom,
  }
}

/** What the session leaves over goes to the project; where that is too little even to name it, nothing changes. */
function withProject(name: string, session: ArrangedSession, project: string): Arranged {
  const section = projectSection(project)
  const had = fitProject(section, session.free - DEARER_MARK)
  const fitted = [...session.fitted, had?.fitted ?? fit(section, 0)]
  if (had === undefined) return { ...session, fitted, leftOut: leftOutOf(fitted) }
  return composed(name, fitted, session.noteRoom + had.noteRoom)
}

function composed(name: string, fitted: readonly Fitted[], noteRoom: number): Arranged {
  const leftOut = leftOutOf(fitted)
  const note = leftOutLines(leftOut, noteRoom)
  const { text, mark } = fenced(name, [...fitted.flatMap(({ lines }) => lines), ...note])
  return {
    text,
    mark,
    leftOut,
    fitted,
    around: costOfAll([...fenceLines(name, mark), ...note]) + MARGIN,
  }
}

function isOver(text: string, budget: number): boolean {
  return estimateTokens(text) > budget || text.length > budget * CHARACTERS_PER_TOKEN
}

/** Sections are made for the usual measure; a larger one gives each of them more before others have all they wish for. */
function withRoom(sections: readonly Section[], budget: number): readonly Section[] {
  if (budget <= MAX_TOKENS) return sections
  return sections.map((section) => ({ ...section, fair: (section.fair * budget) / MAX_TOKENS }))
}

function costOf(fitted: readonly Fitted[]): number {
  return fitted.reduce((sum, { cost }) => sum + cost, 0)
}
