import { NO_USAGE, addUsage, subtractUsage, tokensOf } from '../../contract/usage.ts'
import type { Usage } from '../../../session/entries.ts'
import { type Json, countOf, objectOf } from '../../../text/json-fields.ts'

/**
 * What a process of Claude Code has used, told in pieces that add up. Messages on their way carry a placeholder for what
 * they put out, the last words of delegated agents and the harness's own requests are not shown at all; the sums at the
 * end of a turn have everything.
 */
export class Spending {
  /** Everything that was told so far. */
  #told = NO_USAGE
  /** What the sums counted before this process began. */
  #before: Usage | undefined
  /** The requests of this turn that were told. */
  readonly #requests = new Set<string>()

  constructor(isResumed: boolean) {
    // Some clients go on counting where the process before them stopped, and others begin anew.
    this.#before = isResumed ? undefined : NO_USAGE
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
    this.#before ??= subtractUsage(
      sum,
      sumOf(result['model_usage_since_last_result']) ?? this.#told,
    )
    // What was told too much, where it was, is set right by telling less from then on.
    return this.#tell(subtractUsage(subtractUsage(sum, this.#before), this.#told))
  }

  #tell(usage: Usage): Usage | undefined {
    if (tokensOf(usage) === 0) return undefined
    this.#told = addUsage(this.#told, usage)
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
