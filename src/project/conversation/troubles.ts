// What goes wrong in a hook is nobody's to see at that moment; `stint doctor` shows it afterwards.
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

/** Notes a trouble where it can. There is nobody to tell when that fails too. */
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
    // A read-only or full disk is what most troubles are about.
  }
}

export function readTroubles(folder: string): readonly Trouble[] {
  const text = readOrUndefined(troublesPath(folder))?.toString('utf8') ?? ''
  return text.split('\n').flatMap((line) => {
    try {
      return line === '' ? [] : [JSON.parse(line) as Trouble]
    } catch {
      // A line that two hooks wrote at once.
      return []
    }
  })
}

function troublesPath(folder: string): string {
  return join(folder, 'troubles.jsonl')
}
