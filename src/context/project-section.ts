// What the repository is, for somebody who has just arrived. It comes last: whoever goes on with the work needs the record
// first, and can ask for this at any time.
import { bullets } from './lists.ts'
import { type Fitted, type Section, fit } from './section.ts'

/** The most that it may take of a context, its heading included. */
export const PROJECT_ROOM = 520
/** What naming the part that is left out may cost; it pays for that itself. */
const NOTE_ROOM = 24

/** A project's context as a section of a record; each of its lines is made safe again, for it comes from a file. */
export function projectSection(text: string): Section {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const section = bullets(lines, {
    things: 'lines on the project',
    command: 'stint project',
    rank: Infinity,
    reserve: 0,
    fair: PROJECT_ROOM,
    heading: HEADING,
    keep: 'first',
    lengths: [130],
  })
  // They have dashes of their own where they are items of a list.
  return {
    ...section,
    lines: (shown, length) => section.lines(shown, length).map((line) => line.replace(/^- /, '')),
  }
}

const HEADING = 'The project, as read from its repository:'

/**
 * What of it fits into a room that others left over, and what is needed to name the rest. Undefined where there is no
 * room even for that.
 */
export function fitProject(
  section: Section,
  room: number,
): { readonly fitted: Fitted; readonly noteRoom: number } | undefined {
  const whole = fit(section, Math.max(0, Math.min(PROJECT_ROOM, room)))
  if (whole.shown === section.count && !whole.isShortened) return { fitted: whole, noteRoom: 0 }
  if (room < NOTE_ROOM) return undefined
  return { fitted: fit(section, Math.min(PROJECT_ROOM, room - NOTE_ROOM)), noteRoom: NOTE_ROOM }
}
