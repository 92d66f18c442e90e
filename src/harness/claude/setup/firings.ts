// The evidence that hooks fire: the notes that the hook program keeps of each conversation.
import { join } from 'node:path'
import { namesIn, readOrUndefined, statOrUndefined } from '../../../journal/look.ts'
import { isObject } from './settings.ts'

/** Conversations looked at, the latest first. */
const LIMIT = 200

/** When each event last fired in a project, as the notes in a folder tell. */
export function lastFirings(folder: string): ReadonlyMap<string, string> {
  const latest = new Map<string, string>()
  for (const [event, at] of newestNotes(folder).flatMap(firingsIn)) {
    if ((latest.get(event) ?? '') < at) latest.set(event, at)
  }
  return latest
}

function newestNotes(folder: string): readonly string[] {
  return namesIn(folder)
    .filter((name) => name.endsWith('.json') && !name.startsWith('.'))
    .map((name) => join(folder, name))
    .map((path) => ({ path, writtenAt: statOrUndefined(path)?.mtimeMs ?? 0 }))
    .toSorted((a, b) => b.writtenAt - a.writtenAt)
    .slice(0, LIMIT)
    .map(({ path }) => path)
}

/** Notes that cannot be read, and those of other harnesses, tell nothing. */
function firingsIn(path: string): readonly (readonly [string, string])[] {
  const notes = parsed(readOrUndefined(path)?.toString('utf8') ?? '')
  if (!isObject(notes) || !isObject(notes.fired) || (notes.harness ?? 'claude') !== 'claude')
    return []
  return Object.entries(notes.fired).flatMap(([event, at]) =>
    isTime(at) ? [[event, new Date(at).toISOString()] as const] : [],
  )
}

function isTime(value: unknown): value is string {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Half-written when the power failed.
    return undefined
  }
}
