import { NO_USAGE, addUsage, subtractUsage, tokensOf } from '../../contract/usage.ts'
import type { Usage } from '../../../session/entries.ts'
import { type Json, countOf, objectOf } from '../../../text/json-fields.ts'

/**
 * Messages carry placeholders for output, and requests of sub-agents or the harness may be missing;
 * the sums at the end of a turn are complete.
 */
export class Spending {
  #told = NO_USAGE
  #before: Usage | undefined
  readonly #requests = new Set<string>()

  constructor(isResumed: boolean) {
    // Some clients continue the counts of the process before them, others start at zero.
    this.#before = isResumed ? undefined : NO_USAGE
  }

  ofRequest(id: string, usage: Usage): Usage | undefined {
    if (this.#requests.has(id)) return undefined
    this.#requests.add(id)
    return this.#tell(usage)
  }

  ofResult(result: Json): Usage | undefined {
    this.#requests.clear()
    const sum = sumOf(result['modelUsage'])
    // Old clients end their own commands without sums.
    if (sum === undefined) return undefined
    this.#before ??= subtractUsage(
      sum,
      sumOf(result['model_usage_since_last_result']) ?? this.#told,
    )
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
