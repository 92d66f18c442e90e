import type { DelegatePage } from '../../src/serve/contract.ts'
import { api } from '../data/api.ts'
import { useResource } from '../data/resource.ts'
import { Clock, Cost, FigureList, StatusBadge, Time, Tokens } from '../components/values.tsx'
import { DelegateActions } from '../components/delegate-actions.tsx'
import { DiffView } from '../components/diff-view.tsx'
import { formatDuration } from '../components/format.ts'
import { Loaded } from '../components/states.tsx'
import { Text } from '../components/text.tsx'
import { href, hrefTo } from '../data/router.ts'
import { DelegateStatusBadge } from './delegates.tsx'

export function DelegateView({ id }: { id: string }) {
  const delegate = useResource(
    `delegate ${id}`,
    (signal) => api.delegate(id, signal),
    (event) => event.type === 'delegate' && (event.id === undefined || event.id === id),
  )
  const row = delegate.value?.row
  return (
    <div class="view">
      <header class="view-head">
        <h1>
          <a class="crumb" href={href('/delegates')}>
            Delegates
          </a>{' '}
          {row === undefined ? <span class="mono">{id.slice(-6)}</span> : <Text>{row.name}</Text>}
        </h1>
        {row === undefined ? null : (
          <>
            <DelegateStatusBadge row={row} />
            <span class="aside">
              since <Time at={row.since} />
            </span>
            <DelegateActions row={row} changed={delegate.reload} />
          </>
        )}
      </header>
      <div class="view-body">
        <Loaded resource={delegate}>{(page) => <DelegateBody page={page} />}</Loaded>
      </div>
    </div>
  )
}

function DelegateBody({ page: { row, diff, isDiffCut, moves } }: { page: DelegatePage }) {
  return (
    <div class="stack">
      <p class="lead">
        <Text>{row.what}</Text>
      </p>
      {row.because === undefined || row.status === 'merged' ? null : (
        <p class="remark" data-tone="warn">
          <Text>{row.because}</Text>
        </p>
      )}
      <FigureList
        of={[
          { name: 'Commits', value: row.commits },
          { name: 'Time', value: formatDuration(row.seconds) },
          { name: 'Tokens', value: <Tokens of={row.spend} /> },
          { name: 'Cost', value: <Cost of={row.spend} /> },
        ]}
      />
      <div class="columns">
        <section class="panel" aria-labelledby="diff-title">
          <div class="panel-head">
            <h2 id="diff-title">What it changes</h2>
            <span class="muted small mono">
              <Text>{row.isReadOnly ? row.branch : `${row.branch} → ${row.target}`}</Text>
            </span>
          </div>
          <DiffView diff={diff} isCut={isDiffCut} />
        </section>
        <div class="stack">
          <section class="panel" aria-labelledby="facts-title">
            <div class="panel-head">
              <h2 id="facts-title">About it</h2>
            </div>
            <Facts row={row} />
          </section>
          <section class="panel" aria-labelledby="moves-title">
            <div class="panel-head">
              <h2 id="moves-title">What happened</h2>
            </div>
            <ol class="moves">
              {moves.filter(isChange).map(({ at, to, because }, index) => (
                <li key={index}>
                  <Clock at={at} />
                  <StatusBadge of={to} />
                  {because === undefined ? null : (
                    <p class="small muted">
                      <Text>{because}</Text>
                    </p>
                  )}
                </li>
              ))}
            </ol>
          </section>
        </div>
      </div>
    </div>
  )
}

/** Leaves out repeated states without a reason. */
function isChange(
  { to, because }: DelegatePage['moves'][number],
  index: number,
  moves: DelegatePage['moves'],
): boolean {
  return because !== undefined || moves[index - 1]?.to !== to
}

function Facts({ row }: { row: DelegatePage['row'] }) {
  return (
    <dl class="about">
      {row.parent === undefined ? null : (
        <div>
          <dt>For</dt>
          <dd>
            <a href={hrefTo.session(row.parent)}>its session</a>
          </dd>
        </div>
      )}
      {row.run === undefined ? null : (
        <div>
          <dt>Run</dt>
          <dd>
            <a class="mono" href={hrefTo.run(row.run)}>
              {row.run.slice(-6)}
            </a>
          </dd>
        </div>
      )}
      <Fact name="Harness" value={row.harness} />
      <Fact name="As" value={row.as} />
      <Fact name="Group" value={row.group} />
      <Fact name="Summary" value={row.summary} />
      <Fact name="Worktree" value={row.tree} isCode />
      <Fact name="Kept" value={row.kept} isCode />
      <Fact name="In no commit" value={row.left?.join(', ')} />
      <Fact name="Pull request" value={row.pr} />
      <Fact name="Next" value={row.next} isCode />
    </dl>
  )
}

function Fact({
  name,
  value,
  isCode = false,
}: {
  name: string
  value: string | undefined
  isCode?: boolean
}) {
  if (value === undefined || value === '') return null
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {isCode ? (
          <code>
            <Text>{value}</Text>
          </code>
        ) : (
          <Text>{value}</Text>
        )}
      </dd>
    </div>
  )
}
