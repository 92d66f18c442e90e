// A separate program, so that what an agent starts runs under a guardian and never outlives us.
import { resolve } from 'node:path'
import type { Writable } from 'node:stream'
import { errnoOf } from '../../../../journal/errors.ts'
import { type Json, countOf, objectOf, parseJson } from '../../../../text/json-fields.ts'
import { linesOf } from '../../../process/spawn-guarded.ts'
import { ToolFault, editFile, readLines, writeFile } from './files.ts'
import type { ToolResult } from './tool-program.ts'
import { spawn } from 'node:child_process'
import { cleanText } from '../../../../text/clean.ts'
import { findProgram } from '../../../process/find-program.ts'

export interface Surroundings {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
}

export async function serveTools(
  asked: AsyncIterable<Uint8Array>,
  answers: Writable,
  surroundings: Surroundings,
): Promise<void> {
  const running = new Map<number, AbortController>()
  for await (const line of linesOf(asked)) {
    const message = objectOf(parseJson(line)) ?? {}
    const stopped = countOf(message.stop)
    if (stopped !== undefined) running.get(stopped)?.abort()
    const id = countOf(message.id)
    if (id === undefined) continue
    const controller = new AbortController()
    running.set(id, controller)
    void use(message, surroundings, controller.signal).then((result) => {
      running.delete(id)
      answers.write(`${JSON.stringify({ id, ...result })}\n`)
    })
  }
  for (const controller of running.values()) controller.abort()
}

async function use(
  { tool, input }: Json,
  { cwd, env }: Surroundings,
  signal: AbortSignal,
): Promise<ToolResult> {
  const given = objectOf(input) ?? {}
  const path = resolve(cwd, String(given.path ?? ''))
  const text = (name: string) => String(given[name] ?? '')
  try {
    switch (tool) {
      case 'read':
        return done(readLines(path, countOf(given.offset), countOf(given.limit)))
      case 'write':
        return done(writeFile(path, text('content')))
      case 'edit':
        return done(editFile(path, text('old_text'), text('new_text')))
      case 'shell':
        return await runShell({
          command: text('command'),
          seconds: countOf(given.timeout_seconds),
          cwd,
          env,
          signal,
        })
      default:
        throw new ToolFault(`there is no tool ${String(tool)}`)
    }
  } catch (error) {
    // A full disk or an unwritable file is reported to the agent.
    if (error instanceof ToolFault || errnoOf(error) !== undefined)
      return { text: (error as Error).message, isError: true }
    throw error
  }
}

function done(text: string): ToolResult {
  return { text, isError: false }
}

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
