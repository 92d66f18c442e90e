import { isMissing } from '../../journal/errors.ts'
import { openToRead } from '../../journal/write-files.ts'

export function openIfPresent(path: string): number | undefined {
  try {
    return openToRead(path)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}
