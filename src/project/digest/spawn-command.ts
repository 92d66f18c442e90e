import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { closeSync, openSync, readFileSync, readdirSync } from 'node:fs'
import { constants } from 'node:os'
import { StintError, errnoOf } from '../../journal/errors.ts'

interface SpawnCommandOptions {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly onOutput: (lines: Buffer) => void
}

interface SpawnedCommandResult {
  /** Like a shell: 128 plus the number of a fatal signal. */
  readonly exitCode: number
  readonly signal?: NodeJS.Signals
  readonly seconds: number
  /** A background process still has the output open. */
  readonly isStillWriting: boolean
}

class CommandNotStarted extends StintError {
  override readonly name = 'CommandNotStarted'
  constructor(
    message: string,
    hint: string,
    /** As a shell's. */
    readonly exitCode: 126 | 127,
  ) {
    super(exitCode === 127 ? 'COMMAND_NOT_FOUND' : 'COMMAND_NOT_STARTED', message, hint)
  }
}

/** For background processes to finish writing. */
const GRACE_MS = 1000
/** Between forwarding a signal and SIGKILL. */
const KILL_DELAY_MS = 5000

/** Same process group and standard input, so that it is interrupted like any other command. */
export async function spawnCommand(
  words: readonly string[],
  options: SpawnCommandOptions,
): Promise<SpawnedCommandResult> {
  const startedAt = process.hrtime.bigint()
  const child = await start(words, options)
  const lines = new LineJoiner(options.onOutput)
  child.stdout!.on('data', (bytes: Buffer) => lines.add('stdout', bytes))
  child.stderr!.on('data', (bytes: Buffer) => lines.add('stderr', bytes))
  const signals = forwardSignals(child)
  try {
    const { code, signal } = await ended(child)
    const isStillWriting = !(await closedWithin(child, GRACE_MS))
    const seconds = Number(process.hrtime.bigint() - startedAt) / 1e9
    lines.end()
    if (signal === null) return { exitCode: code ?? 1, seconds, isStillWriting }
    return { exitCode: 128 + constants.signals[signal], signal, seconds, isStillWriting }
  } finally {
    signals.stop()
    child.stdout!.destroy()
    child.stderr!.destroy()
  }
}

async function start(
  [program = '', ...args]: readonly string[],
  { cwd, env }: SpawnCommandOptions,
): Promise<ChildProcess> {
  try {
    const child = spawn(program, args, { cwd, env, stdio: ['inherit', 'pipe', 'pipe'] })
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', reject)
    })
    return child
  } catch (error) {
    throw notStarted(program, error)
  }
}

function notStarted(program: string, error: unknown): unknown {
  const errno = errnoOf(error)
  if (errno === 'ENOENT' || errno === 'ENOTDIR') {
    const hint = /[\s|&;<>$*]/.test(program)
      ? `the words are given one by one: stint digest -- npm test; a line for a shell goes to one: stint digest -- sh -c '…'`
      : 'check how it is spelled and whether it is on the PATH; what only a shell knows is run by one: stint digest -- sh -c "…"'
    return new CommandNotStarted(`command not found: ${program}`, hint, 127)
  }
  if (errno === 'EACCES' || errno === 'ENOEXEC') {
    return new CommandNotStarted(
      `${program} cannot be executed`,
      'chmod +x makes a script executable; or name its interpreter',
      126,
    )
  }
  if (errno !== undefined || error instanceof TypeError) {
    return new CommandNotStarted(
      `${program} could not be started: ${(error as Error).message}`,
      'run it without stint digest to see more',
      126,
    )
  }
  return error
}

function ended(
  child: ChildProcess,
): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  if (child.exitCode !== null || child.signalCode !== null) {
    return Promise.resolve({ code: child.exitCode, signal: child.signalCode })
  }
  return new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })))
}

async function closedWithin(child: ChildProcess, ms: number): Promise<boolean> {
  const open = [child.stdout!, child.stderr!].filter((stream) => !stream.closed)
  if (open.length === 0) return true
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms)
  })
  const all = Promise.all(
    open.map((stream) => new Promise<void>((resolve) => stream.once('close', resolve))),
  ).then(() => true)
  const isClosed = await Promise.race([all, timeout])
  clearTimeout(timer)
  return isClosed
}

const FORWARDED: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']
/** A terminal sends these to the command itself. */
const TERMINAL_SIGNALS: ReadonlySet<string> = new Set(['SIGINT', 'SIGQUIT'])

/** Forwards signals that only this process received to the command and its descendants. */
function forwardSignals(child: ChildProcess): { stop: () => void } {
  let timer: NodeJS.Timeout | undefined
  const signalled = new Set<number>()
  const forward = (signal: NodeJS.Signals) => {
    if (TERMINAL_SIGNALS.has(signal) && hasTerminal()) return
    for (const pid of [child.pid!, ...descendantsOf(child.pid!)]) {
      signalled.add(pid)
      signalProcess(pid, signal)
    }
    if (!TERMINAL_SIGNALS.has(signal))
      timer ??= setTimeout(
        () => signalled.forEach((pid) => signalProcess(pid, 'SIGKILL')),
        KILL_DELAY_MS,
      )
  }
  for (const signal of FORWARDED) process.on(signal, forward)
  return {
    stop: () => {
      clearTimeout(timer)
      for (const signal of FORWARDED) process.off(signal, forward)
      // Descendants that ignored the signal are not left behind.
      for (const pid of signalled) if (pid !== child.pid) signalProcess(pid, 'SIGKILL')
    },
  }
}

function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return true
  } catch {
    // No terminal.
    return false
  }
}

function descendantsOf(pid: number): readonly number[] {
  const parents = process.platform === 'linux' ? parentsFromProc() : parentsFromPs()
  const found = [pid]
  for (const parent of found)
    found.push(...parents.filter(([, of]) => of === parent).map(([child]) => child))
  return found.slice(1)
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // Gone already.
  }
}

type Parent = readonly [child: number, parent: number]

function parentsFromProc(): readonly Parent[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      // The program's name, in brackets, may hold anything; the parent is the second field after
      // it.
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
      const parent = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]
      return [[Number(name), Number(parent)] as const]
    } catch {
      // It ended meanwhile.
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

type Stream = 'stdout' | 'stderr'

const NEWLINE = 0x0a
const MAX_HELD = 65_536

/** Interleaves both outputs line by line. */
class LineJoiner {
  readonly #emit: (lines: Buffer) => void
  readonly #partial: Record<Stream, Buffer> = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) }

  constructor(emit: (lines: Buffer) => void) {
    this.#emit = emit
  }

  add(stream: Stream, bytes: Buffer): void {
    const partial = this.#partial[stream]
    const all = partial.length === 0 ? bytes : Buffer.concat([partial, bytes])
    const end = all.lastIndexOf(NEWLINE) + 1 || (all.length > MAX_HELD ? wholeCharacters(all) : 0)
    this.#partial[stream] = Buffer.from(all.subarray(end))
    if (end > 0) this.#emit(all.subarray(0, end))
  }

  end(): void {
    const partials = [this.#partial.stdout, this.#partial.stderr].filter(({ length }) => length > 0)
    for (const [index, rest] of partials.entries()) {
      this.#emit(index === 0 ? rest : Buffer.concat([Buffer.from('\n'), rest]))
    }
  }
}

/** The length without a character that continues in the next chunk. */
function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= 4; back += 1) {
    const byte = bytes[bytes.length - back]!
    const isFirst = (byte & 0b1100_0000) === 0b1100_0000
    if (isFirst) return bytes.length - back
    if (byte < 0b1000_0000) break
  }
  return bytes.length
}
