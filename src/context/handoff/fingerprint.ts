import { lstatSync, readFileSync, readlinkSync } from 'node:fs'
import { resolve } from 'node:path'
import { errnoOf } from '../../journal/errors.ts'
import { checksum } from '../../journal/record.ts'

/** Larger files are told apart by their size and time. */
const READ_WHOLE = 8 * 1024 * 1024

export const MISSING = 'missing'

/** What a file holds, in few characters: the same file gives the same, on every machine if it is not huge. */
export function fingerprint(root: string, path: string): string {
  try {
    const whole = resolve(root, path)
    const stat = lstatSync(whole, { throwIfNoEntry: false })
    if (stat === undefined) return MISSING
    if (stat.isSymbolicLink()) return checksum(Buffer.from(readlinkSync(whole)))
    if (!stat.isFile()) return 'no file'
    return stat.size > READ_WHOLE
      ? `${stat.size}-${Math.trunc(stat.mtimeMs)}`
      : checksum(readFileSync(whole))
  } catch (error) {
    // Gone in this moment, or not ours to read.
    if (errnoOf(error) === undefined) throw error
    return MISSING
  }
}
