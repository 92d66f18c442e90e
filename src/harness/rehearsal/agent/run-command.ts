import { spawn } from 'node:child_process'

export interface Ran {
  readonly exitCode: number
  /** The last of what it printed. */
  readonly output: string
}

const TAIL_BYTES = 4000
/** What a command leaves running may hold its output open; nobody waits for that. */
const LATE_OUTPUT_MS = 100

/** Runs a program and answers how it went. Aborted, it is killed with what it started. */
export function runCommand(
  command: readonly string[],
  cwd: string,
  signal: AbortSignal,
): Promise<Ran> {
  return new Promise((resolve) => {
    let tail: Buffer = Buffer.alloc(0)
    const [program, ...args] = command as [string, ...string[]]
    const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    const keep = (piece: Buffer) => (tail = Buffer.concat([tail, piece]).subarray(-TAIL_BYTES))
    for (const stream of [child.stdout, child.stderr]) stream.on('data', keep)
    const kill = () => {
      try {
        process.kill(-child.pid!, 'SIGKILL')
      } catch {
        // It ended by itself.
      }
    }
    const end = (exitCode: number) => {
      signal.removeEventListener('abort', kill)
      child.stdout.destroy()
      child.stderr.destroy()
      resolve({ exitCode, output: tail.toString('utf8') })
    }
    child.once('error', (error) => {
      keep(Buffer.from(error.message))
      end(127)
    })
    child.once('close', (code) => end(code ?? 128))
    child.once('exit', (code) => setTimeout(() => end(code ?? 128), LATE_OUTPUT_MS))
    if (signal.aborted) kill()
    else signal.addEventListener('abort', kill)
  })
}
