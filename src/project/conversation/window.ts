// How full a context window is, as the harness tells its status line. Hooks are not told, so the status line
// leaves word for them.
import { join } from 'node:path'
import { type StatusFigures, statusFigures } from '../../harness/claude/status-input.ts'
import { nameOf, objectOf } from '../../text/json-fields.ts'
import { createFolder, replaceUnsynced } from '../../journal/files.ts'
import { readOrUndefined } from '../../journal/look.ts'

export interface Window extends StatusFigures {
  /** When the harness told it. */
  readonly at: string
}

export function writeWindow(folder: string, conversation: string, window: Window): void {
  createFolder(folder)
  replaceUnsynced(windowPath(folder, conversation), JSON.stringify(window))
}

export function readWindow(folder: string, conversation: string): Window | undefined {
  try {
    const bytes = readOrUndefined(windowPath(folder, conversation))
    const fields = bytes === undefined ? undefined : objectOf(JSON.parse(bytes.toString('utf8')))
    const at = nameOf(fields?.['at'])
    return fields === undefined || at === undefined ? undefined : { at, ...statusFigures(fields) }
  } catch {
    // Cut off by a power cut; the status line writes it again in a moment.
    return undefined
  }
}

export function windowPath(folder: string, conversation: string): string {
  return join(folder, `${conversation}.window`)
}
