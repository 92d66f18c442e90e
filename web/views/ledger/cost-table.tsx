import type { LedgerRow } from '../../../src/serve/contract.ts'
import { bytes, moments, tokens } from '../../parts/format.ts'
import { type Column, Table } from '../../parts/table.tsx'
import { Text } from '../../parts/text.tsx'
import { Time } from '../../parts/time.tsx'
import { href, hrefTo } from '../../data/router.ts'
import { avoidedIn } from './amounts.ts'

const COLUMNS: readonly Column<LedgerRow>[] = [
  { name: 'Name', of: (row) => <RowName row={row} /> },
  { name: 'Tokens given', as: 'number', of: ({ costs }) => tokens(costs.injectedTokens) },
  { name: 'Avoided', as: 'number', of: ({ savings }) => tokens(avoidedIn(savings)) },
  { name: 'Hooks', as: 'number', of: ({ costs }) => costs.hooks.toLocaleString('en') },
  { name: 'Time in hooks', as: 'number', of: ({ costs }) => moments(costs.hookMs) },
  { name: 'Writes', as: 'number', of: ({ costs }) => costs.writes.toLocaleString('en') },
  { name: 'On disk', as: 'number', of: ({ costs }) => bytes(costs.bytes) },
  {
    name: 'Worked on',
    as: 'number',
    of: ({ updatedAt }) => (updatedAt === undefined ? '–' : <Time at={updatedAt} />),
  },
]

/** What the ledger is made of, the dearest first. */
export function CostTable({ rows }: { rows: readonly LedgerRow[] }) {
  if (rows.length === 0) return null
  return (
    <section class="panel" aria-labelledby="rows-title">
      <div class="panel-head">
        <h2 id="rows-title">What cost most</h2>
        <span class="muted small">
          <code>stint ledger</code> lists all
        </span>
      </div>
      <Table
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
