/** The commands that show what a record leaves out. */
export const SHOW = {
  all: 'stint view',
  progress: 'stint view --progress',
  decisions: 'stint view --decisions',
  discoveries: 'stint view --discoveries',
  blockers: 'stint view --blockers',
  next: 'stint view --next',
  activity: 'stint view --activity',
} as const

/** How many items a list has already left behind. */
type Behind = { readonly earlier: number }

/** Where the items of a section can be seen that it does not show. */
export function from(command: string, things: string, shelf: Behind = { earlier: 0 }) {
  return { command, things, earlier: shelf.earlier }
}

/** The same for what hooks noticed. */
export function noticed(things: string, shelf?: Behind) {
  return from(SHOW.activity, things, shelf)
}
