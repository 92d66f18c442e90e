import type { Draft } from '../session/entries.ts'
import { type TaskProblem, taskEdits } from './absorb.ts'
import { type Backlog, type TaskEntry, backlogAt, foldBacklog } from './backlog.ts'
import { type AbsorbedFile, type TaskFile, idFromFile } from './store.ts'
import { isUntouched, markerOf } from './task-file.ts'

export interface FileProblem extends TaskProblem {
  readonly file: TaskFile
}

export interface AbsorbedFiles {
  /** The backlog with the edits in it. */
  readonly backlog: Backlog
  readonly absorbed: readonly AbsorbedFile[]
  readonly problems: readonly FileProblem[]
}

/**
 * Takes the edits of all files into the journal. `append` writes drafts and answers with the
 * entries they became; it is called once for each file that holds an edit, and the next file is
 * compared with the backlog after it, so that two files that speak of one task both count.
 */
export async function absorbTaskFiles(
  files: readonly TaskFile[],
  entries: readonly TaskEntry[],
  append: (drafts: readonly Draft[]) => readonly TaskEntry[] | Promise<readonly TaskEntry[]>,
): Promise<AbsorbedFiles> {
  const known = [...entries]
  let backlog = foldBacklog(known)
  const absorbed: AbsorbedFile[] = []
  const problems: FileProblem[] = []
  const earlier = new Map<string, Backlog>()
  const at = (lastId: string) => {
    const found = earlier.get(lastId) ?? backlogAt(entries, lastId)
    earlier.set(lastId, found)
    return found
  }
  for (const file of files) {
    if (file.damage !== undefined) {
      problems.push({ file, message: `cannot be read: ${file.damage}`, setAside: true })
      continue
    }
    const marker = isUntouched(file.text) ? undefined : markerOf(file.text)
    const base =
      marker === undefined || file.id === undefined
        ? undefined
        : at(marker.lastId).byId.get(file.id)
    const mintId = () => idFromFile(file)
    const edits = await taskEdits(file.text, base, { backlog, mintId, isCopy: file.isCopy })
    problems.push(...edits.problems.map((problem) => ({ ...problem, file })))
    if (edits.drafts.length > 0) {
      known.push(...(await append(edits.drafts)))
      backlog = foldBacklog(known)
    }
    if (edits.task !== undefined) absorbed.push({ file, task: edits.task })
  }
  return { backlog, absorbed, problems }
}
