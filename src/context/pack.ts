import type { SessionState } from '../session/state.ts'
import { MAX_TOKENS, costOfAll } from './cost.ts'
import { fenceLines, fenced } from './fence.ts'
import { latelySections } from './lately.ts'
import { LEFT_OUT_ROOM, leftOutLines, leftOutOf, roomForLeftOut } from './left-out.ts'
import { settledSections } from './settled.ts'
import { share } from './share.ts'
import { STANDING_ROOM, standingSections } from './standing.ts'
import { MARGIN } from './tokens.ts'

export interface PackOptions {
  /** `start` is what a new conversation begins with; `full` is what somebody who goes on asks for. */
  readonly level: 'start' | 'full'
  /** The conversation it is given to, to tell whose last words these are. */
  readonly conversation?: string
}

export interface PackedContext {
  readonly text: string
  /** How the text is recognised where it arrived. */
  readonly mark: string
  /** What is not in it, each with the command that shows it. */
  readonly leftOut: readonly string[]
}

/** What a record at the start of a conversation is meant to cost. It takes more only where its head needs it. */
const START_TOKENS = 1400

/** A session as a model is given it: bounded, fenced, what is settled first, and what had to be left out named. */
export function packContext(state: SessionState, options: PackOptions): PackedContext {
  const fence = costOfAll(fenceLines(state.name)) + MARGIN
  // Its room is the same whatever else there is to tell, or its bytes would change with it.
  const settled = share(settledSections(state), MAX_TOKENS - fence - STANDING_ROOM - LEFT_OUT_ROOM, 'fair')
  const spent = fence + settled.reduce((sum, { cost }) => sum + cost, 0)
  const limit = options.level === 'full' ? MAX_TOKENS : Math.max(START_TOKENS, spent + STANDING_ROOM + LEFT_OUT_ROOM)
  const others = [...standingSections(state), ...latelySections(state, options.conversation)]
  const told = (room: number) => [...settled, ...share(others, room)]
  const room = roomForLeftOut(leftOutOf(told(limit - spent)))
  const packed = told(limit - spent - room)
  const leftOut = leftOutOf(packed)
  const lines = [...packed.flatMap((fitted) => fitted.lines), ...leftOutLines(leftOut, room)]
  return { ...fenced(state.name, lines), leftOut }
}
