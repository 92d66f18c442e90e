import { lstatSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { NotWritten, StintError, errnoOf } from '../../../journal/errors.ts'
import { replaceSource } from '../../../journal/files.ts'
import { statOrUndefined } from '../../../journal/look.ts'
import type { Sensitivity, Study } from '../contract.ts'
import { REPORT_BEGINNING, reportPage } from './page.ts'

/** Refuses a place where no report can be written, or where something else stands. */
export function reportTarget(path: string): void {
  const folder = statOrUndefined(dirname(path))
  if (folder?.isDirectory() !== true) {
    throw new StintError(
      'NO_FOLDER',
      `there is no folder ${dirname(path)}`,
      'create it first, or name a file elsewhere',
    )
  }
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return
  if (found.isDirectory())
    throw new StintError('REPORT_NO_FILE', `${path} is a folder`, 'name a file in it')
  if (!found.isFile() || !readFileSync(path, 'utf8').startsWith(REPORT_BEGINNING)) {
    throw new StintError(
      'REPORT_EXISTS',
      `${path} was not written by stint simulate`,
      'remove it, or name another file',
    )
  }
}

/** Puts the page into its file in one step. */
export function writeReport(path: string, study: Study, sensitivity: Sensitivity): void {
  reportTarget(path)
  try {
    replaceSource(path, reportPage(study, sensitivity))
  } catch (cause) {
    if (errnoOf(cause) === undefined) throw cause
    throw new NotWritten(path, cause)
  }
}
