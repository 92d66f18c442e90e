import { useState } from 'preact/hooks'
import type { UsageAnswer } from '../../src/serve/contract.ts'
import type { Spend } from '../../src/run/report.ts'
import { DayBars, type Measure } from '../charts/day-bars.tsx'
import { everyDay } from '../charts/every-day.ts'
import { api } from '../data/api.ts'
import { useResource } from '../data/resource.ts'
import { Figures } from '../parts/figures.tsx'
import { tokens, usd } from '../parts/format.ts'
import { Tokens, allTokens } from '../parts/cost.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { Text } from '../parts/text.tsx'
import { setValues, useValues } from '../shell/router.ts'

const SPANS = [7, 30, 90] as const

export function UsageView() {
  const days = SPANS.find((one) => String(one) === useValues().get('days')) ?? 30
  const usage = useResource(
    `usage ${days}`,
    (signal) => api.usage(days, signal),
    (event) => event.type === 'conversation' || event.type === 'run',
  )
  return (
    <div class="view">
      <header class="view-head">
        <h1>Usage</h1>
        <div class="segments" role="group" aria-label="How many days">
          {SPANS.map((one) => (
            <button
              key={one}
              type="button"
              aria-pressed={one === days}
              onClick={() => setValues({ days: one === 30 ? undefined : String(one) })}
            >
              {one} days
            </button>
          ))}
        </div>
      </header>
      <div class="view-body">
        <Loaded resource={usage}>{(answer) => <UsageBody answer={answer} span={days} />}</Loaded>
      </div>
    </div>
  )
}

function UsageBody({ answer, span }: { answer: UsageAnswer; span: number }) {
  const total = sum(answer.days.map(({ spend }) => spend))
  const [wanted, setWanted] = useState<Measure>()
  if (allTokens(total) === 0 && answer.models.length === 0)
    return (
      <Empty title="Nothing was used in these days">
        What agents use is counted while they work, and from what was imported.
      </Empty>
    )
  const measure = wanted ?? ((total.usd ?? 0) > 0 ? 'cost' : 'tokens')
  const read = total.input + total.cacheWritten + total.cacheRead
  return (
    <div class="stack">
      <Figures
        of={[
          { name: 'Cost', value: costText(answer) },
          { name: 'Tokens', value: <Tokens of={total} /> },
          { name: 'From cache', value: read === 0 ? '–' : `${Math.round((total.cacheRead / read) * 100)}%` },
          { name: 'Output', value: tokens(total.output) },
        ]}
      />
      {answer.unpriced.length === 0 ? null : (
        <p class="remark" data-tone="warn">
          No price is known for{' '}
          {answer.unpriced.map((model, index) => (
            <span key={model}>
              {index === 0 ? '' : ', '}
              <code>
                <Text>{model}</Text>
              </code>
            </span>
          ))}
          : tokens are counted, their cost is not. <code>prices:</code> in <code>.sessions/config.yaml</code> sets one.
        </p>
      )}
      <section class="panel" aria-labelledby="by-day">
        <div class="panel-head">
          <h2 id="by-day">By day</h2>
          <div class="segments" role="group" aria-label="What the bars stand for">
            {(['cost', 'tokens'] as const).map((one) => (
              <button key={one} type="button" aria-pressed={one === measure} onClick={() => setWanted(one)}>
                {one === 'cost' ? 'Cost' : 'Tokens'}
              </button>
            ))}
          </div>
        </div>
        <DayBars days={everyDay(answer.days, span, new Date())} measure={measure} />
      </section>
      <section class="panel" aria-labelledby="by-model">
        <div class="panel-head">
          <h2 id="by-model">By model</h2>
        </div>
        <ModelTable models={answer.models} />
      </section>
    </div>
  )
}

/** Of what has a price: at least that, where something has none. */
function costText({ models, unpriced }: UsageAnswer): string {
  const known = models.flatMap(({ usd: cost }) => (cost === undefined ? [] : [cost]))
  if (known.length === 0) return 'no price'
  return `${unpriced.length === 0 ? '' : '≥ '}${usd(known.reduce((total, cost) => total + cost, 0))}`
}

function ModelTable({ models }: { models: UsageAnswer['models'] }) {
  const most = Math.max(...models.map(({ usage }) => allTokens(usage)), 1)
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label="Usage by model">
      <table class="table">
        <thead>
          <tr>
            <th scope="col">Model</th>
            <th scope="col" class="number">
              Input
            </th>
            <th scope="col" class="number">
              Cache written
            </th>
            <th scope="col" class="number">
              Cache read
            </th>
            <th scope="col" class="number">
              Output
            </th>
            <th scope="col" class="number">
              Cost
            </th>
            <th scope="col">Share of tokens</th>
          </tr>
        </thead>
        <tbody>
          {models.map(({ model, usage, usd: cost }) => (
            <tr key={model}>
              <th scope="row" class="mono">
                <Text>{model}</Text>
              </th>
              <td class="number">{tokens(usage.input)}</td>
              <td class="number">{tokens(usage.cacheWritten)}</td>
              <td class="number">{tokens(usage.cacheRead)}</td>
              <td class="number">{tokens(usage.output)}</td>
              <td class="number">{cost === undefined ? 'no price' : usd(cost)}</td>
              <td>
                <span class="share" title={`${tokens(allTokens(usage))} tokens`}>
                  <span style={{ width: `${(allTokens(usage) / most) * 100}%` }} />
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function sum(spends: readonly Spend[]): Spend {
  const add = (take: (spend: Spend) => number): number => spends.reduce((total, spend) => total + take(spend), 0)
  const usage = {
    input: add(({ input }) => input),
    cacheWritten: add(({ cacheWritten }) => cacheWritten),
    cacheRead: add(({ cacheRead }) => cacheRead),
    output: add(({ output }) => output),
  }
  const isKnown = spends.some(({ usd: cost }) => cost !== undefined)
  return isKnown ? { ...usage, usd: add(({ usd: cost }) => cost ?? 0) } : usage
}
