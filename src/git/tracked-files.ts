import { existsSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { tryGit } from './run-git.ts'

/** Whether git tracks a file under `folder`: then it came with the repository, or a pull can change it at any time. */
export function trackedFiles(root: string, folder: string): (path: string) => boolean {
  // Without files checked out at the root, git tracks none there.
  if (!existsSync(join(root, '.git'))) return () => false
  const listed = tryGit(root, ['ls-files', '-z', '--', `:(icase)${folder}`])
  if (listed === undefined) return () => true
  // A submodule is listed by its folder. Some file systems ignore case and the form of accents.
  const plain = (path: string) => path.normalize('NFC').toLowerCase()
  const tracked = new Set(listed.split('\0').filter(Boolean).map(plain))
  return (path) => {
    const parts = relative(root, path).split(sep)
    return parts.some((_part, index) => tracked.has(plain(parts.slice(0, index + 1).join('/'))))
  }
}
