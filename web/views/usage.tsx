import { useState } from 'preact/hooks'
import type { Spend, UsageReport } from '../../src/serve/contract.ts'
import { type DayBar, DayBars } from '../charts/day-bars.tsx'
import { fillMissingDays } from '../charts/fill-missing-days.ts'
import { api } from '../data/api.ts'
import { useResource } from '../data/resource.ts'
import { FigureList, SpanChoice, Tokens, sumTokens, useSpan } from '../components/values.tsx'
import { formatTokens, formatUsd } from '../components/format.ts'
import { Empty, Loaded } from '../components/states.tsx'
import { type Column, DataTable } from '../components/data-table.tsx'
import { Text } from '../components/text.tsx'

const NO_USAGE: Spend = { input: 0, cacheWritten: 0, cacheRead: 0, output: 0 }

type Measure = 'cost' | 'tokens'

export function UsageView() {
  const span = useSpan()
  const usage = useResource(
    `usage ${span}`,
    (signal) => api.usage(span, signal),
    (event) => event.type === 'conversation' || event.type === 'run',
  )
  return (
    <div class="view">
      <header class="view-head">
        <h1>Usage</h1>
        <SpanChoice span={span} />
      </header>
      <div class="view-body">
        <Loaded resource={usage}>{(answer) => <UsageBody answer={answer} span={span} />}</Loaded>
      </div>
    </div>
  )
}

function UsageBody({ answer, span }: { answer: UsageReport; span: number }) {
  const total = sum(answer.days.map(({ spend }) => spend))
  const [wanted, setWanted] = useState<Measure>()
  if (sumTokens(total) === 0 && answer.models.length === 0)
    return (
      <Empty title="Nothing was used in these days">
        What agents use is counted while they work, and from what was imported.
      </Empty>
    )
  const measure = wanted ?? ((total.usd ?? 0) > 0 ? 'cost' : 'tokens')
  const read = total.input + total.cacheWritten + total.cacheRead
  return (
    <div class="stack">
      <FigureList
        of={[
          { name: 'Cost', value: costText(answer) },
          { name: 'Tokens', value: <Tokens of={total} /> },
          {
            name: 'From cache',
            value: read === 0 ? '–' : `${Math.round((total.cacheRead / read) * 100)}%`,
          },
          { name: 'Output', value: formatTokens(total.output) },
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
          : tokens are counted, their cost is not. <code>prices:</code> in{' '}
          <code>.sessions/config.yaml</code> sets one.
        </p>
      )}
      <section class="panel" aria-labelledby="by-day">
        <div class="panel-head">
          <h2 id="by-day">By day</h2>
          <div class="segments" role="group" aria-label="What the bars stand for">
            {(['cost', 'tokens'] as const).map((one) => (
              <button
                key={one}
                type="button"
                aria-pressed={one === measure}
                onClick={() => setWanted(one)}
              >
                {one === 'cost' ? 'Cost' : 'Tokens'}
              </button>
            ))}
          </div>
        </div>
        <DayBars
          days={fillMissingDays(answer.days, span, new Date(), (day) => ({
            day,
            spend: NO_USAGE,
          })).map((one) => barOf(one, measure))}
          show={measure === 'cost' ? formatUsd : formatTokens}
        />
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

function barOf({ day, spend }: UsageReport['days'][number], measure: Measure): DayBar {
  const all = sumTokens(spend)
  return {
    day,
    values: [measure === 'cost' ? (spend.usd ?? 0) : all],
    text: `${day}: ${spend.usd === undefined ? 'no price' : formatUsd(spend.usd)}, ${formatTokens(all)} tokens`,
  }
}

/** The cost of the priced models; a minimum when some have no price. */
function costText({ models, unpriced }: UsageReport): string {
  const known = models.flatMap(({ usd: cost }) => (cost === undefined ? [] : [cost]))
  if (known.length === 0) return 'no price'
  return `${unpriced.length === 0 ? '' : '≥ '}${formatUsd(known.reduce((total, cost) => total + cost, 0))}`
}

type ModelLine = UsageReport['models'][number]

function ModelTable({ models }: { models: readonly ModelLine[] }) {
  const most = Math.max(...models.map(({ usage }) => sumTokens(usage)), 1)
  const columns: readonly Column<ModelLine>[] = [
    { name: 'Model', as: 'mono', of: ({ model }) => <Text>{model}</Text> },
    { name: 'Input', as: 'number', of: ({ usage }) => formatTokens(usage.input) },
    { name: 'Cache written', as: 'number', of: ({ usage }) => formatTokens(usage.cacheWritten) },
    { name: 'Cache read', as: 'number', of: ({ usage }) => formatTokens(usage.cacheRead) },
    { name: 'Output', as: 'number', of: ({ usage }) => formatTokens(usage.output) },
    {
      name: 'Cost',
      as: 'number',
      of: ({ usd: cost }) => (cost === undefined ? 'no price' : formatUsd(cost)),
    },
    {
      name: 'Share of tokens',
      of: ({ usage }) => (
        <span class="share" title={`${formatTokens(sumTokens(usage))} tokens`}>
          <span style={{ width: `${(sumTokens(usage) / most) * 100}%` }} />
        </span>
      ),
    },
  ]
  return (
    <DataTable
      label="Usage by model"
      columns={columns}
      rows={models}
      keyOf={({ model }) => model}
      whenNarrow="scroll"
    />
  )
}

function sum(spends: readonly Spend[]): Spend {
  const add = (take: (spend: Spend) => number): number =>
    spends.reduce((total, spend) => total + take(spend), 0)
  const usage = {
    input: add(({ input }) => input),
    cacheWritten: add(({ cacheWritten }) => cacheWritten),
    cacheRead: add(({ cacheRead }) => cacheRead),
    output: add(({ output }) => output),
  }
  const isKnown = spends.some(({ usd: cost }) => cost !== undefined)
  return isKnown ? { ...usage, usd: add(({ usd: cost }) => cost ?? 0) } : usage
}
