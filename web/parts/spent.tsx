import type { Spend, Usage } from '../../src/serve/contract.ts'
import { tokens, usd } from './format.ts'

/** What something cost, or how many tokens where no price is known. */
export function Spent({ spend }: { spend: Spend }) {
  const all = spend.input + spend.cacheWritten + spend.cacheRead + spend.output
  if (all === 0) return null
  return (
    <span class="number" title={inWords(spend)}>
      {spend.usd === undefined ? `${tokens(all)} tokens` : usd(spend.usd)}
    </span>
  )
}

/** The tokens of one request to a model: read, of these from its cache, and written. */
export function RequestTokens({ usage }: { usage: Usage }) {
  const read = usage.input + usage.cacheWritten + usage.cacheRead
  return (
    <span class="number" title={inWords(usage)}>
      {tokens(read)} in · {tokens(usage.output)} out
    </span>
  )
}

function inWords({ input, cacheWritten, cacheRead, output }: Usage): string {
  const parts = [
    `${tokens(input)} read`,
    `${tokens(cacheRead)} from the cache`,
    `${tokens(cacheWritten)} into the cache`,
    `${tokens(output)} written`,
  ]
  return parts.join(', ')
}
