import type { LedgerAnswer, LedgerDay } from '../../src/serve/contract.ts'
import { type DayBar, DayBars } from '../charts/day-bars.tsx'
import { everyDay } from '../charts/every-day.ts'
import { api } from '../data/api.ts'
import { useResource } from '../data/resource.ts'
import { Figures } from '../parts/figures.tsx'
import { amount, bytes, moments, tokens } from '../parts/format.ts'
import { SpanChoice, useSpan } from '../parts/span.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { Text } from '../parts/text.tsx'
import { href, hrefTo, useValues } from '../data/router.ts'
import { LEDGER_PAUSE_MS, avoidedIn } from './ledger/amounts.ts'
import { CostTable } from './ledger/cost-table.tsx'
import { SavingTable } from './ledger/saving-table.tsx'
import { defined } from '../../src/text/defined.ts'

/** What Stint itself cost here and what it saved; of one session where the address names it. */
export function LedgerView() {
  const span = useSpan()
  const session = useValues().get('session') ?? undefined
  const ledger = useResource(
    `ledger ${span} ${session}`,
    (signal) => api.ledger({ days: span, ...defined({ session }) }, signal),
    ({ type }) => type === 'session' || type === 'run' || type === 'conversation',
    LEDGER_PAUSE_MS,
  )
  const { value } = ledger
  return (
    <div class="view">
      <header class="view-head">
        {session === undefined ? (
          <h1>Ledger</h1>
        ) : (
          <h1>
            <a class="crumb" href={href('/ledger')}>
              Ledger
            </a>{' '}
            {value === undefined ? null : (
              <a class="row-link" href={hrefTo.session(value.whole.id)}>
                <Text>{value.whole.name}</Text>
              </a>
            )}
          </h1>
        )}
        <SpanChoice span={span} />
        <span class="aside">What Stint itself cost, and what it saved</span>
      </header>
      <div class="view-body">
        <Loaded resource={ledger}>
          {(answer) =>
            isNothing(answer) ? (
              <Empty title="Nothing was counted in these days">
                What Stint puts before models is counted while agents work with it:{' '}
                <code>stint setup</code> lets them.
              </Empty>
            ) : (
              <LedgerBody ledger={answer} span={span} />
            )
          }
        </Loaded>
      </div>
    </div>
  )
}

function isNothing({ whole: { costs, savings } }: LedgerAnswer): boolean {
  return (
    costs.injections === 0 &&
    costs.hooks === 0 &&
    costs.writes === 0 &&
    savings.every(({ times }) => times === 0)
  )
}

function LedgerBody({ ledger, span }: { ledger: LedgerAnswer; span: number }) {
  const { whole, rows, days } = ledger
  const { costs, savings } = whole
  return (
    <div class="stack">
      <p class="lead">
        <Balance
          given={costs.injectedTokens}
          texts={costs.injections}
          avoided={avoidedIn(savings)}
        />
      </p>
      <Figures
        of={[
          { name: 'Tokens given', value: `≈ ${tokens(costs.injectedTokens)}` },
          { name: 'Tokens avoided', value: tokens(avoidedIn(savings)) },
          { name: 'Time in hooks', value: moments(costs.hookMs) },
          { name: 'Hooks', value: costs.hooks.toLocaleString('en') },
          { name: 'Writes', value: costs.writes.toLocaleString('en') },
          { name: 'On disk', value: bytes(costs.bytes) },
          { name: 'Model calls', value: costs.modelCalls === 0 ? 'none' : costs.modelCalls },
        ]}
      />
      <section class="panel" aria-labelledby="by-day">
        <div class="panel-head">
          <h2 id="by-day">By day</h2>
          <ul class="legend" aria-hidden="true">
            <li data-tone="accent">tokens given</li>
            <li data-tone="good">tokens avoided</li>
          </ul>
        </div>
        <DayBars
          days={everyDay(days, span, new Date(), nothingOn).map(barOf)}
          show={tokens}
          tones={['accent', 'good']}
        />
      </section>
      <SavingTable savings={savings} />
      <CostTable rows={rows} />
    </div>
  )
}

/** Both sides in a sentence. */
function Balance({ given, texts, avoided }: { given: number; texts: number; avoided: number }) {
  const net = avoided - given
  return (
    <>
      Stint gave models about {tokens(given)} tokens in {amount(texts, 'text')}
      {avoided < 0
        ? `, and what was to save some cost ${tokens(-avoided)} more than it saved: `
        : ` and kept ${tokens(avoided)} from them: `}
      <strong>
        {net === 0 ? 'as many' : `${tokens(Math.abs(net))} ${net > 0 ? 'fewer' : 'more'}`}
      </strong>
      .
    </>
  )
}

function nothingOn(day: string): LedgerDay {
  return { day, injectedTokens: 0, avoidedTokens: 0, hooks: 0, hookMs: 0 }
}

function barOf({ day, injectedTokens, avoidedTokens, hooks, hookMs }: LedgerDay): DayBar {
  const tokensOf = `${tokens(injectedTokens)} tokens given, ${tokens(avoidedTokens)} avoided`
  return {
    day,
    values: [injectedTokens, avoidedTokens],
    text: `${day}: ${tokensOf}, ${amount(hooks, 'hook')} in ${moments(hookMs)}`,
  }
}
