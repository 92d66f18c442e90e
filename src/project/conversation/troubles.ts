// Hook errors, shown by `stint doctor`.
import { join } from 'node:path'
import { appendLine, createFolder, replaceUnsynced } from '../../journal/files.ts'
import { readOrUndefined, statOrUndefined } from '../../journal/look.ts'

export interface Trouble {
  readonly at: string
  readonly event: string
  readonly conversation: string
  readonly message: string
}

const LARGEST = 64 * 1024
const KEPT = 20

export function noteTrouble(folder: string, trouble: Trouble): void {
  const path = troublesPath(folder)
  try {
    createFolder(folder)
    if ((statOrUndefined(path)?.size ?? 0) > LARGEST) {
      replaceUnsynced(
        path,
        readTroubles(folder)
          .slice(-KEPT)
          .map((kept) => `${JSON.stringify(kept)}\n`)
          .join(''),
      )
    }
    appendLine(path, JSON.stringify(trouble))
  } catch {
    // Most hook errors are about a full or read-only disk.
  }
}

export function readTroubles(folder: string): readonly Trouble[] {
  const text = readOrUndefined(troublesPath(folder))?.toString('utf8') ?? ''
  return text.split('\n').flatMap((line) => {
    try {
      return line === '' ? [] : [JSON.parse(line) as Trouble]
    } catch {
      // Two hooks wrote it at once.
      return []
    }
  })
}

function troublesPath(folder: string): string {
  return join(folder, 'troubles.jsonl')
}
