import { harmless } from './safe-text.ts'
import type { Fitted } from './section.ts'
import { SHOW } from './commands.ts'
import { shortenToCost } from './cost.ts'

/** What a record does not show, by the command that does: `stint view --activity (requests 4, commits 12)`. */
export function leftOutOf(fitted: readonly Fitted[]): readonly string[] {
  const byCommand = new Map<string, string[]>()
  for (const { section, shown } of fitted) {
    const missing = section.earlier + section.count - shown
    if (missing > 0) note(byCommand, section.command, `${section.things} ${missing}`)
  }
  if (fitted.some(({ isShortened }) => isShortened)) note(byCommand, SHOW.all, 'what ends in …')
  return [...byCommand].map(([command, things]) => `${command} (${things.join(', ')})`)
}

/** What naming it may cost. */
export const LEFT_OUT_ROOM = 80

export function leftOutLine(leftOut: readonly string[]): readonly string[] {
  return leftOut.length === 0 ? [] : [harmless(shortenToCost(`Left out here, shown by: ${leftOut.join(', ')}`, LEFT_OUT_ROOM))]
}

function note(byCommand: Map<string, string[]>, command: string, thing: string): void {
  byCommand.set(command, [...(byCommand.get(command) ?? []), thing])
}
