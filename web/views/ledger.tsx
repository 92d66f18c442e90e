import type {
  LedgerDay,
  LedgerReport,
  LedgerRow,
  Saving,
  SavingName,
} from '../../src/serve/contract.ts'
import { type DayBar, DayBars } from '../charts/day-bars.tsx'
import { fillMissingDays } from '../charts/fill-missing-days.ts'
import { api } from '../data/api.ts'
import { useResource } from '../data/resource.ts'
import { Badge, FigureList, SpanChoice, Time, useSpan } from '../components/values.tsx'
import { formatBytes, formatMillis, formatTokens, pluralize } from '../components/format.ts'
import { Empty, Loaded } from '../components/states.tsx'
import { Text } from '../components/text.tsx'
import { href, hrefTo, useQuery } from '../data/router.ts'
import { defined } from '../../src/text/defined.ts'
import { type Column, DataTable } from '../components/data-table.tsx'

/** What Stint itself cost and saved, for one session when the URL names it. */
export function LedgerView() {
  const span = useSpan()
  const session = useQuery().get('session') ?? undefined
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

function isNothing({ whole: { costs, savings } }: LedgerReport): boolean {
  return (
    costs.injections === 0 &&
    costs.hooks === 0 &&
    costs.writes === 0 &&
    savings.every(({ times }) => times === 0)
  )
}

function LedgerBody({ ledger, span }: { ledger: LedgerReport; span: number }) {
  const { whole, rows, days } = ledger
  const { costs, savings } = whole
  return (
    <div class="stack">
      <p class="lead">
        <Balance
          injected={costs.injectedTokens}
          texts={costs.injections}
          avoided={avoidedIn(savings)}
        />
      </p>
      <FigureList
        of={[
          { name: 'Tokens given', value: `≈ ${formatTokens(costs.injectedTokens)}` },
          { name: 'Tokens avoided', value: formatTokens(avoidedIn(savings)) },
          { name: 'Time in hooks', value: formatMillis(costs.hookMs) },
          { name: 'Hooks', value: costs.hooks.toLocaleString('en') },
          { name: 'Writes', value: costs.writes.toLocaleString('en') },
          { name: 'On disk', value: formatBytes(costs.bytes) },
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
          days={fillMissingDays(days, span, new Date(), nothingOn).map(barOf)}
          show={formatTokens}
          tones={['accent', 'good']}
        />
      </section>
      <SavingTable savings={savings} />
      <CostTable rows={rows} />
    </div>
  )
}

function Balance({
  injected,
  texts,
  avoided,
}: {
  injected: number
  texts: number
  avoided: number
}) {
  const net = avoided - injected
  return (
    <>
      Stint gave models about {formatTokens(injected)} tokens in {pluralize(texts, 'text')}
      {avoided < 0
        ? `, and what was to save some cost ${formatTokens(-avoided)} more than it saved: `
        : ` and kept ${formatTokens(avoided)} from them: `}
      <strong>
        {net === 0 ? 'as many' : `${formatTokens(Math.abs(net))} ${net > 0 ? 'fewer' : 'more'}`}
      </strong>
      .
    </>
  )
}

function nothingOn(day: string): LedgerDay {
  return { day, injectedTokens: 0, avoidedTokens: 0, hooks: 0, hookMs: 0 }
}

function barOf({ day, injectedTokens, avoidedTokens, hooks, hookMs }: LedgerDay): DayBar {
  const tokensOf = `${formatTokens(injectedTokens)} tokens given, ${formatTokens(avoidedTokens)} avoided`
  return {
    day,
    values: [injectedTokens, avoidedTokens],
    text: `${day}: ${tokensOf}, ${pluralize(hooks, 'hook')} in ${formatMillis(hookMs)}`,
  }
}

/** The server reads every session for it. */
export const LEDGER_PAUSE_MS = 2_000

export function avoidedIn(savings: readonly Saving[]): number {
  return savings.reduce((sum, { tokens }) => sum + tokens, 0)
}

const COLUMNS: readonly Column<LedgerRow>[] = [
  { name: 'Name', of: (row) => <RowName row={row} /> },
  { name: 'Tokens given', as: 'number', of: ({ costs }) => formatTokens(costs.injectedTokens) },
  { name: 'Avoided', as: 'number', of: ({ savings }) => formatTokens(avoidedIn(savings)) },
  { name: 'Hooks', as: 'number', of: ({ costs }) => costs.hooks.toLocaleString('en') },
  { name: 'Time in hooks', as: 'number', of: ({ costs }) => formatMillis(costs.hookMs) },
  { name: 'Writes', as: 'number', of: ({ costs }) => costs.writes.toLocaleString('en') },
  { name: 'On disk', as: 'number', of: ({ costs }) => formatBytes(costs.bytes) },
  {
    name: 'Worked on',
    as: 'number',
    of: ({ updatedAt }) => (updatedAt === undefined ? '–' : <Time at={updatedAt} />),
  },
]

function CostTable({ rows }: { rows: readonly LedgerRow[] }) {
  if (rows.length === 0) return null
  return (
    <section class="panel" aria-labelledby="rows-title">
      <div class="panel-head">
        <h2 id="rows-title">What cost most</h2>
        <span class="muted small">
          <code>stint ledger</code> lists all
        </span>
      </div>
      <DataTable
        label="Costs"
        columns={COLUMNS}
        rows={rows}
        keyOf={({ kind, id }) => `${kind} ${id}`}
      />
      <p class="muted small table-note">
        <strong>Time in hooks</strong>: inside their processes; starting and ending each comes on
        top. <strong>Writes</strong>: by hooks; of commands the entries alone.
      </p>
    </section>
  )
}

function RowName({ row }: { row: LedgerRow }) {
  const address = addressOf(row)
  return (
    <>
      {address === undefined ? (
        <Text>{row.name}</Text>
      ) : (
        <a class="row-link" href={address}>
          <Text>{row.name}</Text>
        </a>
      )}
      {row.kind === 'session' ? null : <span class="muted small"> {row.kind}</span>}
    </>
  )
}

function addressOf({ kind, id }: LedgerRow): string | undefined {
  if (kind === 'session') return hrefTo.session(id)
  if (kind === 'run') return hrefTo.run(id)
  return kind === 'task' ? href('/tasks', { task: id }) : undefined
}

const SAVING_TEXTS: Readonly<Record<SavingName, { readonly name: string; readonly what: string }>> =
  {
    batching: {
      name: 'Batching',
      what: 'Set-ups that were not said again, less what was read again for it; as tokens of new input',
    },
    toon: { name: 'TOON', what: 'How much longer the same state is as JSON' },
    digest: { name: 'Digests', what: 'Output of commands that was kept and not printed' },
    pointers: {
      name: 'Pointers',
      what: 'What a context names and does not tell, without what TOON counts',
    },
    profiles: { name: 'Profiles', what: 'Those that were listed and never loaded' },
    resuming: {
      name: 'Resuming',
      what: 'What a conversation that went on did not have to find out again, less what it was given and what the others count',
    },
  }

function SavingTable({ savings }: { savings: readonly Saving[] }) {
  const counted = savings.filter(({ times }) => times > 0).toSorted((a, b) => b.tokens - a.tokens)
  const most = Math.max(...counted.map(({ tokens: count }) => Math.abs(count)), 1)
  const columns: readonly Column<Saving>[] = [
    {
      name: 'By',
      of: ({ name }) => (
        <>
          {SAVING_TEXTS[name].name}
          <p class="muted small">{SAVING_TEXTS[name].what}</p>
        </>
      ),
    },
    {
      name: 'Known',
      isPlain: true,
      of: ({ known }) => <Badge tone={known === 'measured' ? 'good' : 'plain'}>{known}</Badge>,
    },
    { name: 'Times', as: 'number', of: ({ times }) => times.toLocaleString('en') },
    { name: 'Tokens', as: 'number', of: ({ tokens: count }) => formatTokens(count) },
    {
      name: 'Share',
      isPlain: true,
      of: ({ tokens: count }) => (
        <span class="share" aria-hidden="true">
          <span
            data-tone={count < 0 ? 'bad' : 'good'}
            style={{ width: `${(Math.abs(count) / most) * 100}%` }}
          />
        </span>
      ),
    },
  ]
  return (
    <section class="panel" aria-labelledby="savings-title">
      <div class="panel-head">
        <h2 id="savings-title">Tokens avoided</h2>
      </div>
      {counted.length === 0 ? (
        <p class="muted">Nothing yet.</p>
      ) : (
        <>
          <DataTable
            label="Tokens avoided, by what avoided them"
            columns={columns}
            rows={counted}
            keyOf={({ name }) => name}
          />
          <p class="muted small table-note">
            <strong>Estimated</strong>: by the lengths of texts, as are the tokens given; resuming
            by what agents said their requests carried, as if each would have read as much as the
            first. What cost more than it saved is below zero.
          </p>
        </>
      )}
    </section>
  )
}
