import type { Usage } from '../../../session/entries.ts'
import { type Json, countOf, objectOf } from '../../../text/json-fields.ts'

export const NOTHING: Usage = { input: 0, cacheWritten: 0, cacheRead: 0, output: 0 }

/**
 * What a process of Claude Code has used, told in pieces that add up. Messages on their way carry a placeholder for what
 * they put out, the last words of delegated agents and the harness's own requests are not shown at all; the sums at the
 * end of a turn have everything.
 */
export class Spending {
  /** Everything that was told so far. */
  #told = NOTHING
  /** What the sums counted before this process began. */
  #before: Usage | undefined
  /** The requests of this turn that were told. */
  readonly #requests = new Set<string>()

  constructor(isResumed: boolean) {
    // Some clients go on counting where the process before them stopped, and others begin anew.
    this.#before = isResumed ? undefined : NOTHING
  }

  /** What a request used; nothing when it was told before. */
  ofRequest(id: string, usage: Usage): Usage | undefined {
    if (this.#requests.has(id)) return undefined
    this.#requests.add(id)
    return this.#tell(usage)
  }

  /** What the result of a turn counts beyond what was told. */
  ofResult(result: Json): Usage | undefined {
    this.#requests.clear()
    const sum = sumOf(result['modelUsage'])
    // Commands of the harness's own end without sums in old clients.
    if (sum === undefined) return undefined
    this.#before ??= minus(sum, sumOf(result['model_usage_since_last_result']) ?? this.#told)
    // What was told too much, where it was, is set right by telling less from then on.
    return this.#tell(minus(minus(sum, this.#before), this.#told))
  }

  #tell(usage: Usage): Usage | undefined {
    const { input, cacheWritten, cacheRead, output } = usage
    if (input + cacheWritten + cacheRead + output === 0) return undefined
    this.#told = plus(this.#told, usage)
    return usage
  }
}

function sumOf(byModel: unknown): Usage | undefined {
  const models = Object.values(objectOf(byModel) ?? {}).flatMap<Json>(
    (model) => objectOf(model) ?? [],
  )
  if (models.length === 0) return undefined
  const total = (name: string) =>
    models.reduce((sum, model) => sum + (countOf(model[name]) ?? 0), 0)
  return {
    input: total('inputTokens'),
    cacheWritten: total('cacheCreationInputTokens'),
    cacheRead: total('cacheReadInputTokens'),
    output: total('outputTokens'),
  }
}

function plus(one: Usage, other: Usage): Usage {
  return combined(one, other, (a, b) => a + b)
}

function minus(one: Usage, other: Usage): Usage {
  return combined(one, other, (a, b) => Math.max(0, a - b))
}

function combined(one: Usage, other: Usage, combine: (a: number, b: number) => number): Usage {
  return {
    input: combine(one.input, other.input),
    cacheWritten: combine(one.cacheWritten, other.cacheWritten),
    cacheRead: combine(one.cacheRead, other.cacheRead),
    output: combine(one.output, other.output),
  }
}
