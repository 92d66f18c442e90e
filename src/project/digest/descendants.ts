import { spawnSync } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'

/** Every process that descends from this one, as far as the system tells. */
export function descendantsOf(pid: number): readonly number[] {
  const parents = process.platform === 'linux' ? parentsFromProc() : parentsFromPs()
  const found = [pid]
  for (const parent of found)
    found.push(...parents.filter(([, of]) => of === parent).map(([child]) => child))
  return found.slice(1)
}

/** Sends a signal to a process, which may be gone by now. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // Gone, or not ours any more: either way there is nobody left to tell.
  }
}

type Parent = readonly [child: number, parent: number]

function parentsFromProc(): readonly Parent[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      // The name of the program, in brackets, may hold anything; the parent is the second field behind it.
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
      const parent = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]
      return [[Number(name), Number(parent)] as const]
    } catch {
      // It ended between being listed and being read.
      return []
    }
  })
}

function parentsFromPs(): readonly Parent[] {
  const { stdout = '' } = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
  return stdout
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([child, parent]) =>
      child === undefined || parent === undefined ? [] : [[child, parent] as const],
    )
}
