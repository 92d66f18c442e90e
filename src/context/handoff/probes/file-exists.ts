import { existsSync } from 'node:fs'
import { isAbsolute, relative, resolve } from 'node:path'
import { type Verdict, couldNotBeChecked, unverified, verified } from './claim.ts'
import type { Surroundings } from './surroundings.ts'

/** Whether the project has the file, or the folder. */
export function probeFile(now: Surroundings, path: string): Verdict {
  const inside = insideOf(now.root, path)
  if (inside === undefined) return couldNotBeChecked('it lies outside of the project')
  return existsSync(resolve(now.root, inside))
    ? verified('file', now.head.commit)
    : unverified('there is no such file')
}

/** The path from the root of the project, without the line that people put behind one: `src/a.ts:245`. */
export function insideOf(root: string, path: string): string | undefined {
  if (path === '' || path.includes('\0')) return undefined
  const whole = resolve(root, path)
  const bare = existsSync(whole) ? whole : resolve(root, path.replace(/:\d+(?:[:-]\d+)?$/, ''))
  const inside = relative(root, bare)
  return inside === '' || inside.startsWith('..') || isAbsolute(inside) ? undefined : inside
}
