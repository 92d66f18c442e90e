import type { UsageAnswer } from '../../src/serve/contract.ts'
import { tokens, usd } from '../parts/format.ts'
import { allTokens } from '../parts/cost.tsx'

export type Measure = 'cost' | 'tokens'

/** A bar for each day. What it stands for is also its text, so that it is read without being seen. */
export function DayBars({ days, measure }: { days: UsageAnswer['days']; measure: Measure }) {
  const valueOf = (spend: UsageAnswer['days'][number]['spend']): number =>
    measure === 'cost' ? (spend.usd ?? 0) : allTokens(spend)
  const most = Math.max(...days.map(({ spend }) => valueOf(spend)), 0)
  const show = (value: number): string => (measure === 'cost' ? usd(value) : tokens(value))
  // So many that their names do not run into each other.
  const step = Math.max(1, Math.ceil(days.length / 8))
  return (
    <div class="bars">
      <div class="bars-scale" aria-hidden="true">
        <span>{show(most)}</span>
        <span>{most === 0 ? '' : show(most / 2)}</span>
        <span>0</span>
      </div>
      <ol class="bars-days">
        {days.map(({ day, spend }, index) => {
          const value = valueOf(spend)
          const text = `${day}: ${spend.usd === undefined ? 'no price' : usd(spend.usd)}, ${tokens(allTokens(spend))} tokens`
          return (
            <li key={day} title={text}>
              <span class="bar" style={{ height: most === 0 ? '0' : `${(value / most) * 100}%` }} data-empty={value === 0} />
              <span class="unseen-text">{text}</span>
              {(days.length - 1 - index) % step === 0 ? (
                <span class="bar-day" aria-hidden="true">
                  {day.slice(5)}
                </span>
              ) : null}
            </li>
          )
        })}
      </ol>
    </div>
  )
}
