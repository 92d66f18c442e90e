// A separate program, so that what an agent starts runs under a guardian and never outlives us.
import { resolve } from 'node:path'
import type { Writable } from 'node:stream'
import { errnoOf } from '../../../../journal/errors.ts'
import { type Json, countOf, objectOf, parseJson } from '../../../../text/json-fields.ts'
import { linesOf } from '../../../process/lines.ts'
import { ToolFault, editFile, readLines, writeFile } from './files.ts'
import type { ToolResult } from './definitions.ts'
import { runShell } from './run-shell.ts'

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
    const stopped = countOf(message['stop'])
    if (stopped !== undefined) running.get(stopped)?.abort()
    const id = countOf(message['id'])
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
  const path = resolve(cwd, String(given['path'] ?? ''))
  const text = (name: string) => String(given[name] ?? '')
  try {
    switch (tool) {
      case 'read':
        return done(readLines(path, countOf(given['offset']), countOf(given['limit'])))
      case 'write':
        return done(writeFile(path, text('content')))
      case 'edit':
        return done(editFile(path, text('old_text'), text('new_text')))
      case 'shell':
        return await runShell({
          command: text('command'),
          seconds: countOf(given['timeout_seconds']),
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
