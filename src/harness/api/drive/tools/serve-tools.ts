// A separate program, so that everything an agent starts runs under a guardian and never outlives
// us.
import { resolve } from 'node:path'
import type { Writable } from 'node:stream'
import { errnoOf } from '../../../../journal/errors.ts'
import { type Json, asCount, asObject, parseJson } from '../../../../text/json-fields.ts'
import { streamLines } from '../../../process/spawn-guarded.ts'
import { ToolError, editFile, readLineRange, writeFile } from './files.ts'
import { cleanText } from '../../../../text/clean.ts'
import { runDetached } from '../../../process/run-detached.ts'
import { findProgram } from '../../../process/find-program.ts'

interface ToolEnvironment {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
}

export async function serveTools(
  requests: AsyncIterable<Uint8Array>,
  responses: Writable,
  environment: ToolEnvironment,
): Promise<void> {
  const running = new Map<number, AbortController>()
  for await (const line of streamLines(requests)) {
    const message = asObject(parseJson(line)) ?? {}
    const stopped = asCount(message.stop)
    if (stopped !== undefined) running.get(stopped)?.abort()
    const id = asCount(message.id)
    if (id === undefined) continue
    const controller = new AbortController()
    running.set(id, controller)
    void runTool(message, environment, controller.signal).then((result) => {
      running.delete(id)
      responses.write(`${JSON.stringify({ id, ...result })}\n`)
    })
  }
  for (const controller of running.values()) controller.abort()
}

async function runTool({ tool, input }: Json, environment: ToolEnvironment, signal: AbortSignal) {
  const { cwd } = environment
  const fields = asObject(input) ?? {}
  const path = resolve(cwd, String(fields.path ?? ''))
  const text = (name: string) => String(fields[name] ?? '')
  try {
    switch (tool) {
      case 'read':
        return success(readLineRange(path, asCount(fields.offset), asCount(fields.limit)))
      case 'write':
        return success(writeFile(path, text('content')))
      case 'edit':
        return success(editFile(path, text('old_text'), text('new_text')))
      case 'shell':
        return await runShell(text('command'), asCount(fields.timeout_seconds), environment, signal)
      default:
        throw new ToolError(`there is no tool ${String(tool)}`)
    }
  } catch (error) {
    // A full disk or an unwritable file is reported to the agent.
    if (error instanceof ToolError || errnoOf(error) !== undefined)
      return { text: (error as Error).message, isError: true }
    throw error
  }
}

function success(text: string) {
  return { text, isError: false }
}

const DEFAULT_SECONDS = 120
const MAX_SECONDS = 3600
const HEAD_BYTES = 8 * 1024
const TAIL_BYTES = 24 * 1024

/** Background processes of a command live as long as the conversation. */
async function runShell(
  command: string,
  requestedSeconds: number | undefined,
  { cwd, env }: ToolEnvironment,
  signal: AbortSignal,
) {
  const seconds = Math.min(requestedSeconds ?? DEFAULT_SECONDS, MAX_SECONDS)
  const timeout = AbortSignal.timeout(seconds * 1000)
  const output = new BoundedOutput()
  const shell = findProgram('bash', env, cwd) ?? '/bin/sh'
  // One pipe, so that stdout and stderr stay in order.
  const { code, killedBy } = await runDetached(
    ['/bin/sh', '-c', 'exec "$0" -c "$1" 2>&1', shell, command],
    {
      cwd,
      env,
      signal: AbortSignal.any([signal, timeout]),
      onOutput: (chunk) => output.add(chunk),
    },
  )
  let outcome = code === 0 ? '' : `it exited with ${code}`
  if (killedBy !== null) outcome = `it was ended by ${killedBy}`
  if (killedBy !== null && timeout.aborted) outcome = `it was ended after ${seconds} seconds`
  if (signal.aborted) outcome = 'it was interrupted'
  const text = output.text() || '[it printed nothing]'
  return { text: outcome === '' ? text : `${text}\n[${outcome}]`, isError: outcome !== '' }
}

/** Keeps the beginning and the end of the output. */
class BoundedOutput {
  #head = Buffer.alloc(0)
  #tail = Buffer.alloc(0)
  #length = 0

  add(chunk: Buffer): void {
    this.#length += chunk.length
    const room = HEAD_BYTES - this.#head.length
    if (room > 0) this.#head = Buffer.concat([this.#head, chunk.subarray(0, room)])
    const rest = chunk.subarray(Math.max(0, room))
    if (rest.length > 0) this.#tail = Buffer.concat([this.#tail, rest]).subarray(-TAIL_BYTES)
  }

  text(): string {
    const omitted = this.#length - this.#head.length - this.#tail.length
    if (omitted === 0) return cleanText(Buffer.concat([this.#head, this.#tail]).toString('utf8'))
    const [head, tail] = [this.#head, this.#tail].map((bytes) => cleanText(bytes.toString('utf8')))
    return `${head}\n[${omitted} bytes left out here]\n${tail}`
  }
}
