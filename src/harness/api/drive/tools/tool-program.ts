import { dirname, join } from 'node:path'
import { type Json, asCount, asObject, parseJson } from '../../../../text/json-fields.ts'
import type { ConversationOptions } from '../../../contract/drive.ts'
import { type GuardedProcess, spawnGuarded } from '../../../process/spawn-guarded.ts'
import { findStintProgram } from '../../../process/find-program.ts'

type ToolProgramOptions = Pick<ConversationOptions, 'cwd' | 'env' | 'wrap' | 'trace'>

export class ToolProgram {
  readonly process: GuardedProcess
  readonly #trace: ConversationOptions['trace']
  readonly #pending = new Map<number, (result: ToolResult) => void>()
  #count = 0

  constructor({ cwd, env, wrap, trace }: ToolProgramOptions) {
    const program = join(dirname(findStintProgram()), 'api-tools.js')
    this.process = spawnGuarded(process.execPath, [program], { cwd, env, wrap })
    this.#trace = trace
    void this.#listen()
  }

  use(tool: ToolName, input: Json, signal: AbortSignal): Promise<ToolResult> {
    const id = (this.#count += 1)
    const stop = () => this.#send({ stop: id })
    return new Promise((resolve) => {
      this.#pending.set(id, (result) => {
        signal.removeEventListener('abort', stop)
        resolve(result)
      })
      this.#send({ id, tool, input })
      if (signal.aborted) stop()
      else signal.addEventListener('abort', stop)
    })
  }

  async #listen() {
    for await (const line of this.process.lines) {
      this.#trace?.('from', line)
      const message = asObject(parseJson(line)) ?? {}
      const id = asCount(message.id) ?? 0
      this.#pending.get(id)?.({
        text: String(message.text ?? ''),
        isError: message.isError === true,
      })
      this.#pending.delete(id)
    }
  }

  #send(message: Json) {
    const line = JSON.stringify(message)
    this.#trace?.('to', line)
    this.process.stdin.write(`${line}\n`)
  }
}

export interface ToolDefinition {
  readonly name: ToolName
  readonly description: string
  readonly input: Json
}

export type ToolName = 'read' | 'write' | 'edit' | 'shell'

export interface ToolResult {
  readonly text: string
  readonly isError: boolean
}

const PATH = {
  type: 'string',
  description: 'Path of the file, from the working folder or absolute',
}

function objectSchema(properties: Json, ...required: readonly string[]) {
  return { type: 'object', properties, required, additionalProperties: false }
}

/** The same bytes in every request, because they come first in a provider's cache. */
export const API_TOOLS: readonly ToolDefinition[] = [
  {
    name: 'read',
    description:
      'Reads a text file. Long files are given in pieces: offset is the first line, counted from 1, and limit the number of lines.',
    input: objectSchema(
      {
        path: PATH,
        offset: { type: 'integer', minimum: 1 },
        limit: { type: 'integer', minimum: 1 },
      },
      'path',
    ),
  },
  {
    name: 'write',
    description:
      'Writes a whole file, in place of one that is there. Folders are made where they are missing.',
    input: objectSchema({ path: PATH, content: { type: 'string' } }, 'path', 'content'),
  },
  {
    name: 'edit',
    description:
      'Replaces a piece of a file by another. old_text has to stand in the file exactly once, with every space and line end; give enough around it.',
    input: objectSchema(
      { path: PATH, old_text: { type: 'string' }, new_text: { type: 'string' } },
      'path',
      'old_text',
      'new_text',
    ),
  },
  {
    name: 'shell',
    description:
      'Runs a command in a shell in the working folder, and gives what it printed. Every command begins there anew. It is ended after timeout_seconds, 120 unless said otherwise.',
    input: objectSchema(
      {
        command: { type: 'string' },
        timeout_seconds: { type: 'integer', minimum: 1, maximum: 3600 },
      },
      'command',
    ),
  },
]

export function toolInputError(tool: ToolDefinition, input: Json): string | undefined {
  const properties = tool.input.properties as Readonly<Record<string, { readonly type: string }>>
  const missing = (tool.input.required as readonly string[]).find(
    (name) => input[name] === undefined,
  )
  if (missing !== undefined) return `${missing} is missing`
  for (const [name, value] of Object.entries(input)) {
    const type = Object.hasOwn(properties, name) ? properties[name]!.type : undefined
    if (type === undefined)
      return `there is no ${name}; there are ${Object.keys(properties).join(', ')}`
    if (type === 'string' && typeof value !== 'string') return `${name} must be a text`
    if (type === 'integer' && (!Number.isInteger(value) || (value as number) < 1))
      return `${name} must be a whole number from 1`
  }
  return undefined
}
