import { GitFailed, runGit } from '../../git/run-git.ts'
import type { Place } from '../../project/store/place.ts'

/** How many commits a delegate has beyond where it began, by the first of these that is still there: its branch may be gone. */
export function commitsBeyond(
  { repository }: Place,
  base: string,
  tips: readonly (string | undefined)[],
): number {
  if (repository === undefined) return 0
  for (const tip of tips) {
    if (tip === undefined) continue
    try {
      return Number(runGit(repository.mainRoot, ['rev-list', '--count', `${base}..${tip}`, '--']))
    } catch (error) {
      if (!(error instanceof GitFailed)) throw error
    }
  }
  return 0
}
