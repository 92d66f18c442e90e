import { readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { moveFile, removeFile } from '../journal/files.ts'
import { statOrUndefined } from '../journal/look.ts'
import { loadSqlite } from './sqlite.ts'

const COMPANIONS = ['-wal', '-shm', '-journal', '']
const KEPT = 3
const MARK = '.set-aside-'

/**
 * Moves an index that cannot be used out of the way, with the files that belong to it. Answers its new
 * name, or undefined when it is gone or another process has already replaced it.
 */
export function setAside(
  path: string,
  inode: number | undefined,
  now: Date = new Date(),
): string | undefined {
  return alone(`${path}.lock`, () => {
    // Several processes may find the damage at once; the second must not take away what the first built.
    if (inode === undefined || statOrUndefined(path)?.ino !== inode) return undefined
    const name = path + MARK + now.toISOString().replaceAll(/[:.]/g, '-')
    // The index itself goes last: as long as it has its name, nobody begins a new one beside what is still to be moved.
    for (const companion of COMPANIONS) moveFile(path + companion, name + companion)
    forgetOldest(path)
    return name
  })
}

// A lock that the system takes back from a killed process: an empty database, held exclusively.
function alone<T>(path: string, work: () => T): T {
  const lock = new (loadSqlite().DatabaseSync)(path)
  try {
    lock.exec('PRAGMA busy_timeout = 5000; BEGIN EXCLUSIVE')
    return work()
  } finally {
    lock.close()
  }
}

// An index holds nothing that the journals do not, and two versions of Stint that take turns in a
// project would otherwise fill the disk with each other's.
function forgetOldest(path: string): void {
  const folder = dirname(path)
  const names = readdirSync(folder).filter(
    (name) => name.startsWith(basename(path) + MARK) && name.endsWith('Z'),
  )
  for (const name of names.sort().slice(0, -KEPT)) {
    for (const companion of COMPANIONS) removeFile(join(folder, name + companion))
  }
}
