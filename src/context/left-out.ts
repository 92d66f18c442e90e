import { SHOW } from './commands.ts'
import { costOfAll, shortenToCost } from './cost.ts'
import type { Fitted } from './section.ts'

/** The most that naming what is left out may cost. */
export const LEFT_OUT_ROOM = 130

/** What a record does not show, by the command that does: `stint view --activity (requests 4, commits 12)`. */
export function leftOutOf(fitted: readonly Fitted[]): readonly string[] {
  const byCommand = new Map<string, string[]>()
  const note = (command: string, thing: string) =>
    byCommand.set(command, [...(byCommand.get(command) ?? []), thing])
  for (const { section, shown } of fitted) {
    const missing = section.earlier + section.count - shown
    if (missing > 0) note(section.command, `${section.things} ${missing}`)
  }
  if (fitted.some(({ isShortened }) => isShortened)) note(SHOW.all, 'what ends in …')
  return [...byCommand].map(([command, things]) => `${command} (${things.join(', ')})`)
}

/** The line that says so, or none; cut off where it is dearer than its room. */
export function leftOutLines(leftOut: readonly string[], room = LEFT_OUT_ROOM): readonly string[] {
  if (leftOut.length === 0) return []
  return [shortenToCost(`Left out here, shown by: ${leftOut.join(', ')}`, room)]
}

/** What to set aside for the line after a first try: there will be more to name in the second. */
export function roomForLeftOut(leftOut: readonly string[]): number {
  return leftOut.length === 0
    ? 0
    : Math.min(LEFT_OUT_ROOM, costOfAll(leftOutLines(leftOut)) + GROWTH)
}

const GROWTH = 30
