import type { Project } from '../../core.ts'
import { StintError } from '../../public/projection.ts'

const MAX_SUGGESTIONS = 3

/** Adds similar names to an error about an unknown name. */
export async function withSuggestions(project: Project, error: unknown): Promise<unknown> {
  const match = error instanceof StintError ? UNKNOWN_NAME.exec(error.message) : null
  if (!(error instanceof StintError) || match === null) return error
  const [, kind, typed = ''] = match
  const similar = nearestNames(typed, await knownNames(project, kind))
  if (similar.length === 0) return error
  return new StintError(
    error.code,
    `${error.message}; did you mean ${similar.join(' or ')}?`,
    error.hint,
    { cause: error },
  )
}

const UNKNOWN_NAME = /^there is no (session, task or run|session|task|delegate) "(.*)"$/

async function knownNames(
  project: Project,
  kind: string | undefined,
): Promise<ReadonlySet<string>> {
  try {
    if (kind === 'delegate')
      return new Set((await project.delegates.recorded()).map(({ order }) => order.name))
    const tasks =
      kind === 'session' ? [] : (await project.tasks.list()).tasks.map((task) => task.shortname)
    const sessions = kind === 'task' ? [] : [...(await project.list())].map((row) => row.name)
    return new Set([...sessions, ...tasks])
  } catch {
    // The first error matters; without names there is nothing to suggest.
    return new Set()
  }
}

/** The most similar names, nearest first. */
export function nearestNames(typed: string, names: Iterable<string>): readonly string[] {
  const text = typed.toLowerCase()
  const maxDistance = Math.max(1, Math.floor(text.length / 3))
  const similar: { name: string; distance: number }[] = []
  for (const name of names) {
    const isPart = text.length >= 3 && name.includes(text)
    if (!isPart && Math.abs(name.length - text.length) > maxDistance) continue
    const distance = isPart ? 1 : editDistance(text, name.toLowerCase())
    if (distance <= maxDistance) similar.push({ name, distance })
  }
  return similar
    .toSorted((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, MAX_SUGGESTIONS)
    .map(({ name }) => name)
}

/** Edit distance with swaps of neighbours (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row += 1) {
    const line = [row]
    for (let column = 1; column <= b.length; column += 1) {
      const differs = a[row - 1] === b[column - 1] ? 0 : 1
      const isSwapped =
        row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      line.push(
        Math.min(
          last[column]! + 1,
          line[column - 1]! + 1,
          last[column - 1]! + differs,
          isSwapped ? beforeLast[column - 2]! + 1 : Infinity,
        ),
      )
    }
    beforeLast = last
    last = line
  }
  return last[b.length]!
}
