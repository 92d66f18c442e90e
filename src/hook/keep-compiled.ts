import { dirname } from 'node:path'
import { errnoOf } from '../journal/errors.ts'
import { createFolder, replaceUnsynced } from '../journal/files.ts'
import { sealCode } from './sealed-code.ts'

export function keepCompiled(path: string, code: Buffer): void {
  try {
    createFolder(dirname(path))
    replaceUnsynced(path, sealCode(code))
  } catch (error) {
    // A full or read-only disk: compiled anew next time.
    if (errnoOf(error) === undefined) throw error
  }
}
