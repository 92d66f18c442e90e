import { closeSync, readSync, realpathSync } from 'node:fs'
import { isAbsolute, join, relative, sep } from 'node:path'
import { errnoOf } from '../journal/errors.ts'
import { openRegularFile } from '../journal/write-files.ts'

const MAX_BYTES = 256 * 1024

export const NO_FILE = 'there is no such file'

export function readRepositoryFile(
  folder: string,
  path: string,
): { readonly real: string; readonly text: string } | string {
  if (path.trim() === '' || isAbsolute(path))
    return 'a path from the root of the repository is wanted'
  let root: string
  let real: string
  try {
    root = realpathSync(folder)
    real = realpathSync(join(root, path))
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
    return NO_FILE
  }
  // A symbolic link may point anywhere.
  const inside = relative(root, real)
  if (inside === '' || inside === '..' || inside.startsWith(`..${sep}`))
    return 'it is not in the repository'
  if (inside === '.git' || inside.startsWith(`.git${sep}`)) return 'it belongs to git'
  const text = readBounded(real)
  return text === undefined ? 'it cannot be read as text' : { real, text }
}

function readBounded(path: string) {
  const fd = openRegularFile(path)
  if (fd === undefined) return undefined
  try {
    const bytes = Buffer.alloc(MAX_BYTES)
    const text = bytes.subarray(0, readSync(fd, bytes, 0, MAX_BYTES, 0)).toString('utf8')
    return text.includes('\0') ? undefined : text
  } finally {
    closeSync(fd)
  }
}
