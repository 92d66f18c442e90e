import type { Usage } from '../../../session/entries.ts'
import { shorten } from '../../../text/clean.ts'
import { type Json, countOf, nameOf, objectOf, saidIn, textOf } from '../../../text/json-fields.ts'
import { largerUsage } from '../../contract/usage.ts'
import type { LastAnswer } from '../../contract/transcript.ts'
import { parseLine } from '../../contract/transcript-lines.ts'
import { defined } from '../../../text/defined.ts'

const LONGEST_TEXT = 4000
const LONGEST_FAILURE = 400

export class AnswerLine {
  #parsed: Json | undefined | null = null

  constructor(
    readonly bytes: Buffer,
    readonly isCompacted: () => boolean,
  ) {}

  get fields(): Json | undefined {
    if (this.#parsed === null) this.#parsed = parseLine(this.bytes)
    return this.#parsed?.['type'] === 'assistant' ? this.#parsed : undefined
  }
}

export function lastAnswer(lines: readonly AnswerLine[]): LastAnswer {
  let lastAssistantAt: string | undefined
  let lastText: string | undefined
  let failure: string | undefined
  let call: Call | undefined
  let hasAnswered = false
  let version: string | undefined
  for (const line of lines.toReversed()) {
    if (call !== undefined && lastText !== undefined && !call.continuesIn(line.bytes)) break
    const { fields } = line
    if (fields === undefined) continue
    const message = objectOf(fields['message'])
    const said = textOf(saidIn(message?.['content']))
    lastAssistantAt ??= timeOf(fields['timestamp'])
    version ??= nameOf(fields['version'])
    if (fields['isApiErrorMessage'] === true) {
      if (!hasAnswered)
        failure ??= shorten(said ?? 'the model could not be reached', LONGEST_FAILURE)
      continue
    }
    hasAnswered = true
    lastText ??= said === undefined ? undefined : shorten(said, LONGEST_TEXT)
    // The size of a context that was thrown away says nothing about the next one.
    if (!line.isCompacted())
      call = call === undefined ? callIn(message, fields['timestamp']) : call.with(message)
  }
  return defined({
    lastAssistantAt,
    lastText,
    failure,
    usage: call?.usage,
    usedAt: call?.at,
    model: call?.model,
    version,
  })
}

/**
 * An answer stands on several lines with the same id; the usage of earlier lines is a placeholder.
 */
class Call {
  readonly #id: Buffer | undefined
  constructor(
    readonly usage: Usage,
    readonly id: string | undefined,
    readonly model: string | undefined,
    readonly at: string | undefined,
  ) {
    this.#id = id === undefined ? undefined : Buffer.from(JSON.stringify(id))
  }

  continuesIn(line: Buffer): boolean {
    return this.#id !== undefined && line.includes(this.#id)
  }

  with(message: Json | undefined): Call {
    const usage = message?.['id'] === this.id ? usageIn(message) : undefined
    if (usage === undefined) return this
    return new Call(largerUsage(this.usage, usage), this.id, this.model, this.at)
  }
}

function callIn(message: Json | undefined, at: unknown): Call | undefined {
  const usage = usageIn(message)
  // While an answer streams in, its tokens are written as 0 or 1; those read from the cache are
  // right even then.
  if (usage === undefined || usage.input + usage.cacheWritten + usage.cacheRead <= 1)
    return undefined
  return new Call(usage, nameOf(message?.['id']), nameOf(message?.['model']), timeOf(at))
}

export function usageIn(message: Json | undefined): Usage | undefined {
  const usage = objectOf(message?.['usage'])
  if (usage === undefined) return undefined
  return {
    input: countOf(usage['input_tokens']) ?? 0,
    cacheWritten: countOf(usage['cache_creation_input_tokens']) ?? 0,
    cacheRead: countOf(usage['cache_read_input_tokens']) ?? 0,
    output: countOf(usage['output_tokens']) ?? 0,
  }
}

/** As the journal writes it, so that times compare as texts. */
export function timeOf(value: unknown): string | undefined {
  const text = nameOf(value, 40)
  const time = text === undefined ? Number.NaN : Date.parse(text)
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
}
