import { readFileSync } from 'node:fs'
import type { ProcessMark } from '../contract/drive.ts'
import { startGuardian } from './start-guardian.ts'

export function isAlive({ pid, startedAt, mark }: ProcessMark): boolean {
  if (startedAt === '') return isThere(pid)
  // After a reboot both numbers may repeat; the mark does not.
  return startOf(pid) === startedAt && environmentOf(pid).includes(mark)
}

/** Without readable environments this ends nothing: the guardian has ended its group by itself. */
export async function endStrays({ mark }: ProcessMark, graceMs = 1000): Promise<number> {
  const ended = await startGuardian({ mark, grace: graceMs, spare: process.pid }, {}).ended
  return ended?.found ?? 0
}

export function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    // Behind the name come fields 3 onwards; the start time is the 22nd.
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
    // No such process, or another user's.
    return false
  }
}
