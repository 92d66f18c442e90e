import type { Saving, SavingName } from '../../../src/serve/contract.ts'
import { Badge } from '../../parts/badge.tsx'
import { tokens } from '../../parts/format.ts'
import { type Column, Table } from '../../parts/table.tsx'

const WORDS: Readonly<Record<SavingName, { readonly name: string; readonly what: string }>> = {
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

export function SavingTable({ savings }: { savings: readonly Saving[] }) {
  const counted = savings.filter(({ times }) => times > 0).toSorted((a, b) => b.tokens - a.tokens)
  const most = Math.max(...counted.map(({ tokens: count }) => Math.abs(count)), 1)
  const columns: readonly Column<Saving>[] = [
    {
      name: 'By',
      of: ({ name }) => (
        <>
          {WORDS[name].name}
          <p class="muted small">{WORDS[name].what}</p>
        </>
      ),
    },
    {
      name: 'Known',
      isPlain: true,
      of: ({ known }) => <Badge tone={known === 'measured' ? 'good' : 'plain'}>{known}</Badge>,
    },
    { name: 'Times', as: 'number', of: ({ times }) => times.toLocaleString('en') },
    { name: 'Tokens', as: 'number', of: ({ tokens: count }) => tokens(count) },
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
          <Table
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
