import { readFileSync } from 'node:fs'
import type { ProcessMark } from '../contract/drive.ts'
import { startGuardian } from './start-guardian.ts'

/** Whether the process of a mark is still there, and not another one that got its number. */
export function isAlive({ pid, startedAt, mark }: ProcessMark): boolean {
  if (startedAt === '') return isThere(pid)
  // After a restart of the machine both numbers may come again; the mark does not.
  return startOf(pid) === startedAt && environmentOf(pid).includes(mark)
}

/**
 * Ends what carries the mark of a process of ours that we lost hold of, and says how many there were. Where the system does
 * not show environments this ends nothing: the guardian has ended its group by itself.
 */
export async function endStrays({ mark }: ProcessMark, graceMs = 1000): Promise<number> {
  const ended = await startGuardian({ mark, grace: graceMs, spare: process.pid }, {}).ended
  return ended?.found ?? 0
}

/** When a process began, in the system's own count; empty where it does not tell, and for one that is over. */
export function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    // The fields behind the name begin with the third; when it began is the 22nd.
    return fields[0] === 'Z' ? '' : (fields[19] ?? '')
  } catch {
    return ''
  }
}

function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1')
  } catch {
    // It ended meanwhile.
    return ''
  }
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    // No such process, or somebody else's, which ours is not.
    return false
  }
}
