// Runs a program again and again, and makes each call that changes the disk fail once in every possible way. After each fault a second
// process, without faults, must find everything in order.
import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { temporaryFolder } from '../support/scratch.ts'

const { ENOSPC, EIO, EROFS, EACCES, EPERM } = constants.errno

/** How a call fails. `split` lets another program write into the middle of a write; `full` and `read-only` last until the process ends. */
export const FAULTS = {
  kill: { action: 'kill' },
  'kill after': { action: 'after' },
  torn: { action: 'torn', writesOnly: true },
  short: { action: 'short', writesOnly: true },
  split: { action: 'split', writesOnly: true },
  ENOSPC: { action: String(ENOSPC) },
  EIO: { action: String(EIO) },
  EACCES: { action: String(EACCES) },
  EPERM: { action: String(EPERM) },
  full: { action: String(ENOSPC), isLasting: true },
  'read-only': { action: String(EROFS), isLasting: true },
} as const satisfies Record<string, { action: string; writesOnly?: boolean; isLasting?: boolean }>

export type Fault = keyof typeof FAULTS

/** A numbered call: `write /folder/file`, or `ack` where the program acknowledged something. */
export interface Call {
  readonly name: string
  readonly path: string
  readonly target?: string
}

export interface Finished {
  readonly code: number | undefined
  readonly signal: string | undefined
  readonly stdout: string
  readonly stderr: string
  /** The ids it acknowledged, from its lines `ack <id>`. */
  readonly acknowledged: readonly string[]
}

export interface Verdict {
  /** Every id that can be read. */
  readonly held: readonly string[]
  /** How many damaged fragments were reported. */
  readonly damaged?: number
  /** Violations, in words. */
  readonly problems?: readonly string[]
}

/** A program to fault and the world it runs in. `folder` is new and empty for each run. */
export interface Workload {
  /** Creates the world; returns the ids that are already acknowledged. */
  readonly prepare?: (folder: string) => readonly string[] | void | Promise<readonly string[]>
  readonly done?: () => void
  readonly argv: (folder: string) => readonly string[]
  /** The process that runs afterwards without faults; by default the same program. */
  readonly argvAfter?: (folder: string) => readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: (folder: string) => string
  /** Only calls under this folder count; by default all of `folder`. */
  readonly watch?: (folder: string) => string
  /** Calls on paths that contain this do not count. */
  readonly except?: string
  /** Inspects the world after the faulted process, and again after the second one. */
  readonly verify: (folder: string, finished: Finished, stage: 'faulted' | 'after') => Verdict
}

export interface Run {
  readonly fault: Fault
  readonly at: number
  readonly call: Call
  readonly faulted: Finished
  /** The damage reported after the faulted process had ended. */
  readonly damaged: number
  readonly after: Finished
}

export interface SweepReport {
  /** The calls of a run without faults. */
  readonly calls: readonly Call[]
  readonly runs: readonly Run[]
  /** Acknowledged but missing after the faulted process had ended. */
  readonly falseDone: readonly string[]
  /** Acknowledged by either process but missing after the second. */
  readonly acknowledgedLost: readonly string[]
  /** The faulted process hung, or the second one hung or failed. */
  readonly stuck: readonly string[]
  /** What `verify` reported. */
  readonly unreadable: readonly string[]
}

const HANG_MS = 120_000

/** Makes every call of a workload fail in turn. */
export async function sweep(
  shim: string,
  workload: Workload,
  faults = Object.keys(FAULTS) as Fault[],
): Promise<SweepReport> {
  try {
    return await sweepAll(shim, workload, faults)
  } finally {
    workload.done?.()
  }
}

async function sweepAll(
  shim: string,
  workload: Workload,
  faults: readonly Fault[],
): Promise<SweepReport> {
  const { calls } = await traced(shim, workload)
  const counted = calls.filter((call) => call.name !== 'ack')
  const jobs = faults.flatMap((fault) =>
    counted.flatMap((call, index) =>
      'writesOnly' in FAULTS[fault] && !isWrite(call) ? [] : [{ fault, at: index + 1, call }],
    ),
  )
  const report = {
    calls,
    runs: [] as Run[],
    falseDone: [],
    acknowledgedLost: [],
    stuck: [],
    unreadable: [],
  }
  const queue = jobs.values()
  const work = async () => {
    for (const job of queue) report.runs.push(await runWithFault(shim, workload, job, report))
  }
  await Promise.all([work(), work()])
  return report
}

/** A run without faults, with every call it made. */
export async function traced(
  shim: string,
  workload: Workload,
): Promise<{ calls: readonly Call[]; finished: Finished }> {
  const folder = temporaryFolder()
  try {
    const world = newWorld(folder)
    await workload.prepare?.(world)
    const trace = join(folder, 'trace')
    const env = { ...shimEnv(shim, workload, world), FAULT_TRACE: trace }
    const finished = await finish(workload, world, workload.argv(world), env)
    if (finished.code !== 0) throw new Error(`the unfaulted run failed: ${finished.stderr}`)
    return { calls: readTrace(trace), finished }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Lists the files and folders that were changed but not synced when something was acknowledged. */
export function unsyncedAtAcknowledgement(calls: readonly Call[]): readonly string[] {
  const unsynced = new Set<string>()
  const found: string[] = []
  for (const { name, path, target } of calls) {
    if (name === 'ack') found.push(...unsynced)
    else if (name.startsWith('write') || name.startsWith('pwrite')) unsynced.add(path)
    else if (name === 'fsync' || name === 'fdatasync') unsynced.delete(path)
    else if (name === 'open' || name === 'mkdir') unsynced.add(dirname(path))
    else if (name === 'link' || name === 'rename') {
      unsynced.add(dirname(target!))
      // The bytes move with the file to its new name.
      if (unsynced.delete(path)) unsynced.add(target!)
    }
  }
  return [...new Set(found)]
}

/** Compiles the shim; throws where there is no C compiler. */
export function compileShim(folder: string): string {
  const shim = join(folder, 'faultshim.so')
  execFileSync('cc', [
    '-shared',
    '-fPIC',
    '-O1',
    '-o',
    shim,
    join(import.meta.dirname, 'faultshim.c'),
    '-ldl',
  ])
  return shim
}

type Collected = { [K in 'falseDone' | 'acknowledgedLost' | 'stuck' | 'unreadable']: string[] }

async function runWithFault(
  shim: string,
  workload: Workload,
  { fault, at, call }: Pick<Run, 'fault' | 'at' | 'call'>,
  report: Collected,
): Promise<Run> {
  const folder = temporaryFolder()
  try {
    const world = newWorld(folder)
    const where = `${fault} at ${at} (${call.name} ${call.path.replace(folder, '')})`
    const before = (await workload.prepare?.(world)) ?? []
    const kind: { action: string; isLasting?: boolean } = FAULTS[fault]
    const env = {
      FAULT_AT: String(at),
      FAULT_ACTION: kind.action,
      FAULT_ON: kind.isLasting === true ? '1' : '0',
    }

    const faulted = await finish(workload, world, workload.argv(world), {
      ...shimEnv(shim, workload, world),
      ...env,
    })
    if (isHung(faulted)) report.stuck.push(`${where}: hangs`)
    const first = verdictOf(workload, world, faulted, 'faulted')
    report.falseDone.push(...missing([...before, ...faulted.acknowledged], first, where))

    const after = await finish(workload, world, (workload.argvAfter ?? workload.argv)(world), {})
    if (after.code !== 0)
      report.stuck.push(
        `${where}: the next process ends with ${after.code ?? after.signal}: ${after.stderr}`,
      )
    const second = verdictOf(workload, world, after, 'after')
    report.acknowledgedLost.push(
      ...missing([...before, ...faulted.acknowledged, ...after.acknowledged], second, where),
    )
    report.unreadable.push(
      ...[...(first.problems ?? []), ...(second.problems ?? [])].map(
        (problem) => `${where}: ${problem}`,
      ),
    )
    return { fault, at, call, faulted, damaged: first.damaged ?? 0, after }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function newWorld(folder: string): string {
  const world = join(folder, 'world')
  mkdirSync(world)
  return world
}

function shimEnv(shim: string, workload: Workload, world: string): Record<string, string> {
  return {
    LD_PRELOAD: shim,
    // io_uring bypasses libc.
    UV_USE_IO_URING: '0',
    FAULT_DIR: workload.watch?.(world) ?? world,
    FAULT_COUNT: join(dirname(world), 'count'),
    ...(workload.except === undefined ? {} : { FAULT_EXCEPT: workload.except }),
  }
}

function finish(
  workload: Workload,
  world: string,
  argv: readonly string[],
  env: Record<string, string>,
): Promise<Finished> {
  const [command, ...args] = argv
  const options = {
    cwd: workload.cwd?.(world) ?? world,
    env: { ...process.env, ...workload.env, ...env },
    timeout: HANG_MS,
    killSignal: 'SIGTERM' as const,
  }
  return new Promise((resolve) => {
    const child = execFile(command!, args, options, (_error, stdout, stderr) => {
      const acknowledged = [...stdout.matchAll(/^ack (\S+)$/gm)].map((match) => match[1]!)
      const { exitCode, signalCode } = child
      resolve({
        code: exitCode ?? undefined,
        signal: signalCode ?? undefined,
        stdout,
        stderr,
        acknowledged,
      })
    })
    child.stdin?.end()
  })
}

function verdictOf(
  workload: Workload,
  world: string,
  finished: Finished,
  stage: 'faulted' | 'after',
): Verdict {
  try {
    return workload.verify(world, finished, stage)
  } catch (error) {
    return { held: [], problems: [`cannot be read: ${String(error)}`] }
  }
}

function missing(acknowledged: readonly string[], { held }: Verdict, where: string): string[] {
  const there = new Set(held)
  return acknowledged.filter((id) => !there.has(id)).map((id) => `${where}: ${id}`)
}

// A process killed by its fault ended with SIGKILL; one that was stopped by the sweep did not.
function isHung({ signal }: Finished): boolean {
  return signal === 'SIGTERM'
}

function isWrite({ name }: Call): boolean {
  return name.startsWith('write') || name.startsWith('pwrite')
}

function readTrace(path: string): readonly Call[] {
  const lines = readFileSync(path, 'utf8').trim().split('\n')
  return lines.map((line) => {
    const [, name, first, second] = line.split(' ') as [string, string, string, string?]
    return second === undefined ? { name, path: first } : { name, path: first, target: second }
  })
}
