import { dirname, join } from 'node:path'
import { type Json, countOf, objectOf, parseJson } from '../../../../text/json-fields.ts'
import type { OpenConversation } from '../../../contract/drive.ts'
import { type GuardedProcess, spawnGuarded } from '../../../process/spawn-guarded.ts'
import { stintProgram } from '../../../process/stint-program.ts'
import type { ToolName, ToolResult } from './definitions.ts'

type Place = Pick<OpenConversation, 'cwd' | 'env' | 'wrap' | 'trace'>

export class ToolProgram {
  readonly process: GuardedProcess
  readonly #trace: OpenConversation['trace']
  readonly #waiting = new Map<number, (result: ToolResult) => void>()
  #count = 0

  constructor({ cwd, env, wrap, trace }: Place) {
    const program = join(dirname(stintProgram()), 'api-tools.js')
    this.process = spawnGuarded(process.execPath, [program], { cwd, env, wrap })
    this.#trace = trace
    void this.#listen()
  }

  use(tool: ToolName, input: Json, signal: AbortSignal): Promise<ToolResult> {
    const id = (this.#count += 1)
    const stop = () => this.#send({ stop: id })
    return new Promise((resolve) => {
      this.#waiting.set(id, (result) => {
        signal.removeEventListener('abort', stop)
        resolve(result)
      })
      this.#send({ id, tool, input })
      if (signal.aborted) stop()
      else signal.addEventListener('abort', stop)
    })
  }

  async #listen(): Promise<void> {
    for await (const line of this.process.lines) {
      this.#trace?.('from', line)
      const message = objectOf(parseJson(line)) ?? {}
      const id = countOf(message['id']) ?? 0
      this.#waiting.get(id)?.({
        text: String(message['text'] ?? ''),
        isError: message['isError'] === true,
      })
      this.#waiting.delete(id)
    }
  }

  #send(message: Json): void {
    const line = JSON.stringify(message)
    this.#trace?.('to', line)
    this.process.stdin.write(`${line}\n`)
  }
}
