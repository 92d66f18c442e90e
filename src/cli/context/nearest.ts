import type { Project } from '../../library.ts'
import { StintError } from '../../public.ts'

const MOST = 3

/** The same error with the names that may have been meant, when it is about a name that is not there. */
export async function withNearest(project: Project, error: unknown): Promise<unknown> {
  const about = error instanceof StintError ? NOT_THERE.exec(error.message) : null
  if (!(error instanceof StintError) || about === null) return error
  const [, what, wanted = ''] = about
  const near = nearest(wanted, await namesOf(project, what))
  if (near.length === 0) return error
  return new StintError(
    error.code,
    `${error.message}; did you mean ${near.join(' or ')}?`,
    error.hint,
    { cause: error },
  )
}

const NOT_THERE = /^there is no (session, task or run|session|task|delegate) "(.*)"$/

async function namesOf(project: Project, what: string | undefined): Promise<ReadonlySet<string>> {
  try {
    if (what === 'delegate')
      return new Set((await project.delegates.recorded()).map(({ order }) => order.name))
    const tasks =
      what === 'session' ? [] : (await project.tasks.list()).tasks.map((task) => task.shortname)
    const sessions = what === 'task' ? [] : [...(await project.list())].map((row) => row.name)
    return new Set([...sessions, ...tasks])
  } catch {
    // The first error is the one to tell; without names to compare there is only nothing to add to it.
    return new Set()
  }
}

/** The names that differ least from the one wanted, the nearest first. */
export function nearest(wanted: string, names: Iterable<string>): readonly string[] {
  const text = wanted.toLowerCase()
  const most = Math.max(1, Math.floor(text.length / 3))
  const near: { name: string; away: number }[] = []
  for (const name of names) {
    const isPart = text.length >= 3 && name.includes(text)
    if (!isPart && Math.abs(name.length - text.length) > most) continue
    const away = isPart ? 1 : distance(text, name.toLowerCase())
    if (away <= most) near.push({ name, away })
  }
  return near
    .toSorted((a, b) => a.away - b.away || (a.name < b.name ? -1 : 1))
    .slice(0, MOST)
    .map(({ name }) => name)
}

/** How many letters have to be put in, left out, replaced, or swapped with their neighbour. */
function distance(a: string, b: string): number {
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
