import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { NotWritten, StintError, errnoOf, isMissing } from '../journal/errors.ts'
import { linkFile, removeFile, replaceFile } from '../journal/files.ts'

/** The index was taken away while it was used, and git takes a missing index for an empty one. */
class IndexLost extends StintError {
  override readonly name = 'IndexLost'
  constructor(readonly path: string) {
    super('INDEX_LOST', `the temporary index ${path} was removed by another program`, 'try again')
  }
}

const NAME = /^stint-index-(\d+)-(\d+)-[0-9a-f]+(?:\.lock)?$/
const LEFT_BEHIND_MS = 60 * 60_000

/** Gives git an index to change that is not the user's, and removes it whatever happens. */
export function withTemporaryIndex<T>(gitDir: string, use: (path: string) => T): T {
  sweepTemporaryIndexes(gitDir, LEFT_BEHIND_MS)
  const path = join(
    gitDir,
    `stint-index-${Date.now()}-${process.pid}-${randomBytes(6).toString('hex')}`,
  )
  try {
    const isNew = !borrowIndex(join(gitDir, 'index'), path)
    const result = use(path)
    if (!isNew && !existsSync(path)) throw new IndexLost(path)
    return result
  } finally {
    removeFile(path)
    removeFile(`${path}.lock`)
  }
}

/** Removes the indexes that killed processes left. Their time is in their name, since a second name of the index shares its time. */
function sweepTemporaryIndexes(gitDir: string, olderThanMs: number): void {
  for (const name of readdirSync(gitDir)) {
    const [, madeAt, pid] = NAME.exec(name) ?? []
    if (madeAt === undefined || Date.now() - Number(madeAt) < olderThanMs || isRunning(Number(pid)))
      continue
    removeFile(join(gitDir, name))
  }
}

/**
 * Gives the index a second name. git never writes an index in place but renames a new one over the name it was given,
 * so the user's stays as it is. A copy would be newer than the original, and git, which takes files as old as the
 * index for possibly changed, would trust what it must look at.
 */
function borrowIndex(index: string, path: string): boolean {
  try {
    linkFile(index, path)
    return true
  } catch (error) {
    if (isMissing(error)) return false
    return copyIndex(index, path, error)
  }
}

// For file systems without second names; there, a change of the same size in the instant of the last `git add` may be missed.
function copyIndex(index: string, path: string, cause: unknown): boolean {
  try {
    replaceFile(path, readFileSync(index))
    return true
  } catch (error) {
    throw new NotWritten(path, errnoOf(error) === undefined ? cause : error)
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errnoOf(error) === 'EPERM'
  }
}
