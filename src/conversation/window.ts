// How full a context window is, as the harness tells its status line. Hooks are not told, so the status line
// leaves word for them.
import { join } from 'node:path'
import { createFolder, readOrUndefined, replaceUnsynced } from '../journal/files.ts'

export interface Window {
  readonly at: string
  readonly usedPercent?: number
  readonly size?: number
  readonly used?: number
}

export function writeWindow(folder: string, conversation: string, window: Window): void {
  createFolder(folder)
  replaceUnsynced(pathFor(folder, conversation), JSON.stringify(window))
}

export function readWindow(folder: string, conversation: string): Window | undefined {
  try {
    const bytes = readOrUndefined(pathFor(folder, conversation))
    return bytes === undefined ? undefined : (JSON.parse(bytes.toString('utf8')) as Window)
  } catch {
    // Cut off by a power cut; the status line writes it again in a moment.
    return undefined
  }
}

function pathFor(folder: string, conversation: string): string {
  return join(folder, `${conversation}.window`)
}
