import type { Spend, Usage } from '../../src/serve/contract.ts'
import { tokens, usd } from './format.ts'

export function allTokens({ input, cacheWritten, cacheRead, output }: Usage): number {
  return input + cacheWritten + cacheRead + output
}

/** What it cost; a dash with a reason where no price is known. */
export function Cost({ of }: { of: Spend }) {
  if (of.usd !== undefined) return <span class="figure">{usd(of.usd)}</span>
  if (allTokens(of) === 0) return <span class="figure">–</span>
  return (
    <span class="figure" title="No price is known for a model that was used">
      no price
    </span>
  )
}

export function Tokens({ of }: { of: Usage }) {
  const { input, cacheWritten, cacheRead, output } = of
  return (
    <span
      class="figure"
      title={`${tokens(input)} in, ${tokens(cacheWritten)} written to and ${tokens(cacheRead)} read from the cache, ${tokens(output)} out`}
    >
      {tokens(allTokens(of))}
    </span>
  )
}
