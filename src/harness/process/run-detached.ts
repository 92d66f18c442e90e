import { spawn } from 'node:child_process'

/** Background processes of the command may hold its output open. */
const LATE_OUTPUT_MS = 100

interface RunOptions {
  readonly cwd: string
  readonly env?: NodeJS.ProcessEnv
  /** Aborting it kills the whole process group of the command. */
  readonly signal: AbortSignal
  readonly onOutput: (output: Buffer) => void
}

/** Runs a command in its own process group. A command that cannot be started exits with 127. */
export function runDetached(
  [program, ...args]: readonly [string, ...string[]],
  { cwd, env, signal, onOutput }: RunOptions,
): Promise<{ readonly code: number | null; readonly killedBy: string | null }> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    const kill = () => {
      try {
        process.kill(-child.pid!, 'SIGKILL')
      } catch {
        // It ended by itself.
      }
    }
    const end = (code: number | null, killedBy: string | null) => {
      signal.removeEventListener('abort', kill)
      child.stdout.destroy()
      child.stderr.destroy()
      resolve({ code, killedBy })
    }
    for (const stream of [child.stdout, child.stderr]) stream.on('data', onOutput)
    child.once('error', (error) => {
      onOutput(Buffer.from(error.message))
      end(127, null)
    })
    child.once('close', end)
    child.once('exit', (code, killedBy) => setTimeout(() => end(code, killedBy), LATE_OUTPUT_MS))
    if (signal.aborted) kill()
    else signal.addEventListener('abort', kill)
  })
}
