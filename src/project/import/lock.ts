// One import into a project at a time: two would both store what is new.
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { isAlive, startOf } from '../../harness/process/spawn-guarded.ts'
import { StintError } from '../../journal/errors.ts'
import { createFolderUnsynced, removeFile, takeLock, touchFile } from '../../journal/files.ts'
import { readOrUndefined } from '../../journal/look.ts'

/** A lock of another machine is stale after this long without a touch. */
const STALE_MS = 10 * 60_000
const MOVES_EVERY_MS = 30_000

export class ImportLock {
  readonly #owner = `${process.pid} ${startOf(process.pid)} ${hostname()}`
  #movedAt = Date.now()

  private constructor(readonly path: string) {}

  static take(path: string, project: string): ImportLock {
    const lock = new ImportLock(path)
    createFolderUnsynced(dirname(path))
    if (takeLock(path, STALE_MS, lock.#owner, isGone)) return lock
    throw new StintError(
      'IMPORT_RUNNING',
      `another import into ${project} is going on`,
      'wait until it is through; if there is something new then, run stint import again',
    )
  }

  move(): void {
    if (Date.now() - this.#movedAt < MOVES_EVERY_MS) return
    this.#movedAt = Date.now()
    if (this.#isOurs()) touchFile(this.path)
  }

  release(): void {
    if (this.#isOurs()) removeFile(this.path)
  }

  #isOurs(): boolean {
    return readOrUndefined(this.path)?.toString('utf8') === this.#owner
  }
}

function isGone(owner: string): boolean {
  const [, pid, startedAt, host] = /^(\d{1,10}) (\d*) (.+)$/.exec(owner) ?? []
  return (
    pid !== undefined &&
    host === hostname() &&
    !isAlive({ pid: Number(pid), startedAt: startedAt!, mark: '' })
  )
}
