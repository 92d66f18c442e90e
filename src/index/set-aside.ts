import { readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { moveFile, removeFile } from '../journal/files.ts'
import { statOrUndefined } from '../journal/look.ts'
import { loadSqlite } from './sqlite.ts'

const COMPANIONS = ['-wal', '-shm', '-journal', '']
const KEPT = 3
const MARK = '.set-aside-'

/** Returns the new name, or undefined when the file is gone or already replaced. */
export function setAside(
  path: string,
  inode: number | undefined,
  now: Date = new Date(),
): string | undefined {
  return alone(`${path}.lock`, () => {
    // Several processes may find the damage at once; the second must not remove what the first built.
    if (inode === undefined || statOrUndefined(path)?.ino !== inode) return undefined
    const name = path + MARK + now.toISOString().replaceAll(/[:.]/g, '-')
    // The index goes last: while it has its name, no process begins a new one beside the old companions.
    for (const companion of COMPANIONS) moveFile(path + companion, name + companion)
    forgetOldest(path)
    return name
  })
}

// An exclusively held empty database, which the system releases when a process is killed.
function alone<T>(path: string, work: () => T): T {
  const lock = new (loadSqlite().DatabaseSync)(path)
  try {
    lock.exec('PRAGMA busy_timeout = 5000; BEGIN EXCLUSIVE')
    return work()
  } finally {
    lock.close()
  }
}

// Otherwise two versions of Stint in turns would fill the disk.
function forgetOldest(path: string): void {
  const folder = dirname(path)
  const names = readdirSync(folder).filter(
    (name) => name.startsWith(basename(path) + MARK) && name.endsWith('Z'),
  )
  for (const name of names.sort().slice(0, -KEPT)) {
    for (const companion of COMPANIONS) removeFile(join(folder, name + companion))
  }
}
