import { readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'

/** With `node --require`, a program dies just before the write call numbered in the variable of this name. */
export const KILL_AT_WRITE = fileURLToPath(new URL('kill-at-write.cjs', import.meta.url))

/** With `node --require`, `stint run --json` dies just after the events that the variable of this name counts, such as `tool 3`. */
export const KILL_AT_EVENT = fileURLToPath(new URL('kill-at-event.cjs', import.meta.url))

/** The running processes whose environment contains a word. */
export function carriersOf(word: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter(
      (pid) =>
        pid !== process.pid && isRunning(pid) && readOr('', `/proc/${pid}/environ`).includes(word),
    )
}

export function isRunning(pid: number): boolean {
  const stat = readOr('', `/proc/${pid}/stat`)
  return stat !== '' && stat[stat.lastIndexOf(')') + 2] !== 'Z'
}

/** Fails unless soon no process carries the word. */
export async function expectNoneLeft(word: string): Promise<void> {
  await expect.poll(() => carriersOf(word).map(commandOf)).toEqual([])
}

/** The start of a process's command line. */
export function commandOf(pid: number): string {
  return readOr('', `/proc/${pid}/cmdline`).replaceAll('\0', ' ').trimEnd().slice(0, 80)
}

function readOr(otherwise: string, path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    // The process ended meanwhile.
    return otherwise
  }
}
