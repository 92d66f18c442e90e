import { isBusy, isCorrupt, isUnwritable } from '../../index/sqlite.ts'
import { StintError, errnoOf } from '../../journal/errors.ts'

/** Why a history cannot be read now; undefined for what is no fault of it. */
export function problemOf(error: unknown): string | undefined {
  if (isBusy(error)) return 'its harness is writing to it; import again later'
  if (isCorrupt(error)) return 'it is damaged'
  // What cannot be written is ours, and is no matter of one file.
  if (error instanceof StintError) return undefined
  const isOfDatabase =
    isUnwritable(error) || /no such (?:table|column)/.test(String((error as Error).message))
  return isOfDatabase || errnoOf(error) !== undefined ? (error as Error).message : undefined
}
