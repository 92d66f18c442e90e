import { spawn } from 'node:child_process'
import { cleanText } from '../../../../text/clean.ts'
import { findProgram } from '../../../process/find-program.ts'
import type { ToolResult } from './definitions.ts'

const USUAL_SECONDS = 120
const LONGEST_SECONDS = 3600
const HEAD_BYTES = 8 * 1024
const TAIL_BYTES = 24 * 1024
/** Background processes of the command may hold its output open. */
const LATE_OUTPUT_MS = 100

export interface ShellUse {
  readonly command: string
  readonly seconds?: number | undefined
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly signal: AbortSignal
}

export function runShell({
  command,
  seconds: wanted = USUAL_SECONDS,
  cwd,
  env,
  signal,
}: ShellUse): Promise<ToolResult> {
  const seconds = Math.min(wanted, LONGEST_SECONDS)
  return new Promise((resolve) => {
    const printed = new Printed()
    const shell = findProgram('bash', env, cwd) ?? '/bin/sh'
    // Through one pipe, so that both outputs stay in order.
    const args = ['-c', 'exec "$0" -c "$1" 2>&1', shell, command]
    const child = spawn('/bin/sh', args, {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    let ended: string | undefined
    const kill = (why: string) => {
      ended ??= why
      try {
        process.kill(-child.pid!, 'SIGKILL')
      } catch {
        // It ended by itself.
      }
    }
    const stop = () => kill('it was interrupted')
    const timer = setTimeout(() => kill(`it was ended after ${seconds} seconds`), seconds * 1000)
    const end = (code: number | null, by: string | null) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
      child.stdout.destroy()
      child.stderr.destroy()
      resolve(
        told(
          printed.text(),
          ended ?? (by === null ? undefined : `it was ended by ${by}`),
          code ?? undefined,
        ),
      )
    }
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (piece: Buffer) => printed.add(piece))
    child.once('error', (error) => {
      printed.add(Buffer.from(error.message))
      end(127, null)
    })
    child.once('close', end)
    child.once('exit', (code, by) => setTimeout(() => end(code, by), LATE_OUTPUT_MS))
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop)
  })
}

function told(output: string, ended: string | undefined, code: number | undefined): ToolResult {
  const how = ended ?? (code === 0 ? undefined : `it exited with ${code}`)
  const said = output === '' ? '[it printed nothing]' : output
  return { text: how === undefined ? said : `${said}\n[${how}]`, isError: how !== undefined }
}

class Printed {
  #head = Buffer.alloc(0)
  #tail = Buffer.alloc(0)
  #length = 0

  add(piece: Buffer): void {
    this.#length += piece.length
    const room = HEAD_BYTES - this.#head.length
    if (room > 0) this.#head = Buffer.concat([this.#head, piece.subarray(0, room)])
    const rest = piece.subarray(Math.max(0, room))
    if (rest.length > 0) this.#tail = Buffer.concat([this.#tail, rest]).subarray(-TAIL_BYTES)
  }

  text(): string {
    const left = this.#length - this.#head.length - this.#tail.length
    if (left === 0) return cleanText(Buffer.concat([this.#head, this.#tail]).toString('utf8'))
    const [head, tail] = [this.#head, this.#tail].map((bytes) => cleanText(bytes.toString('utf8')))
    return `${head}\n[${left} bytes left out here]\n${tail}`
  }
}
