import { runGit } from '../../git/run-git.ts'
import type { Task } from '../../backlog/task.ts'
import { KnownPaths, touchesOf } from './overlap.ts'
import type { Candidate } from './schedule.ts'

/** Tasks with the files that they will probably change, as far as a working tree tells. `files` are those of an order. */
export function candidatesIn(
  tree: string | undefined,
): (task: Task, files?: readonly string[]) => Candidate {
  const listed = tree === undefined ? [] : runGit(tree, ['ls-files', '-z']).split('\0')
  const known = new KnownPaths(listed.filter((path) => path !== ''))
  return (task, files) => ({ task, touches: touchesOf(task, known, files) })
}
