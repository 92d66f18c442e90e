import type { ComponentChildren } from 'preact'
import type { Item, PublicList, SessionPage } from '../../src/serve/contract.ts'
import { TokenCurveChart } from '../charts/token-curve.tsx'
import { StatusBadge, Time } from '../components/values.tsx'
import { Clip } from '../components/clip.tsx'
import { formatBytes, formatMillis, formatTokens, pluralize } from '../components/format.ts'
import { useUnfolded } from '../components/unfolded.tsx'
import { Text, revealInvisible } from '../components/text.tsx'
import { href, hrefTo, setQuery } from '../data/router.ts'
import { api } from '../data/api.ts'
import { useResource } from '../data/resource.ts'
import { LEDGER_PAUSE_MS, avoidedIn } from './ledger.tsx'

export function SessionOverview({ page }: { page: SessionPage }) {
  const { state, row, delegates, conversations } = page
  const open = state.openBlockers
  const handoffs = state.handoffs.items
  const latest = conversations.findLast(({ isStored }) => isStored)
  return (
    <div class="overview">
      {row.goal === '' ? null : (
        <Panel title="Goal">
          <Passage name="goal" text={row.goal} />
        </Panel>
      )}
      {state.tldrWritten === undefined ? null : (
        <Panel
          title={
            state.tldrWritten.isOutdated
              ? 'Where it stands (before the latest entries)'
              : 'Where it stands'
          }
        >
          <Passage name="tldr" text={state.tldrWritten.text} />
        </Panel>
      )}
      {open.length === 0 ? null : (
        <Panel title="Open blockers" tone="bad">
          <ItemEntries session={row.id} list={{ earlier: 0, items: open }} />
        </Panel>
      )}
      <Steps page={page} />
      <ItemPanel session={row.id} title="Next" list={state.next} />
      <ItemPanel
        session={row.id}
        title="Decisions"
        list={state.decisions}
        note={({ choice, rationale }) => [choice, rationale].filter(Boolean).join(' · ')}
      />
      <ItemPanel
        session={row.id}
        title="Discoveries"
        list={state.discoveries}
        mark={({ gotcha }) => (gotcha ? 'gotcha' : undefined)}
      />
      {state.tasks.length === 0 ? null : (
        <Panel title="Tasks">
          <ul class="plain-list">
            {state.tasks.map((task) => (
              <li key={task}>
                <a class="mono" href={href('/tasks', { task })}>
                  <Text>{task}</Text>
                </a>
              </li>
            ))}
          </ul>
        </Panel>
      )}
      {delegates.length === 0 ? null : (
        <Panel title="Delegates">
          <ul class="plain-list">
            {delegates.map((delegate) => (
              <li key={delegate.id} class="split">
                <a href={hrefTo.delegate(delegate.id)}>
                  <Text>{delegate.name}</Text>
                </a>
                <StatusBadge of={delegate.status} />
              </li>
            ))}
          </ul>
        </Panel>
      )}
      {handoffs.length === 0 ? null : (
        <Panel title="Handoffs">
          <ul class="plain-list">
            {handoffs.map((handoff) => (
              <li key={handoff.id} class="split">
                <a href={hrefTo.handoff(handoff.id)}>
                  {handoff.number}.{' '}
                  <Text>{handoff.reason === '' ? 'handoff' : handoff.reason}</Text>
                </a>
                <StatusBadge of={handoff.status} />
              </li>
            ))}
          </ul>
        </Panel>
      )}
      {latest === undefined ? null : <TokenCurveChart conversation={latest.id} />}
      <StintCosts session={row.id} />
    </div>
  )
}

function Panel({
  title,
  tone,
  children,
}: {
  title: string
  tone?: 'bad'
  children: ComponentChildren
}) {
  return (
    <section class="part" data-tone={tone}>
      <h2>{title}</h2>
      {children}
    </section>
  )
}

function Passage({ name, text }: { name: string; text: string }) {
  return (
    <Clip name={name} text={text} limit={600} lines={10}>
      {(shown) => (
        <p class="passage" dir="auto">
          {revealInvisible(shown)}
        </p>
      )}
    </Clip>
  )
}

function Steps({ page: { state } }: { page: SessionPage }) {
  const { items, earlier } = state.steps
  const [isAll, setAll] = useUnfolded('steps')
  if (items.length + earlier === 0) return null
  const open = items.filter(({ status }) => status !== 'done')
  const done = items.filter(({ status }) => status === 'done')
  const shown = isAll === 0 ? [...done.slice(-3), ...open.slice(0, 12)] : items
  return (
    <Panel title="Steps">
      <ul class="plain-list steps">
        {shown.map((step) => (
          <li key={step.id} data-status={step.status}>
            <span class="box" role="img" aria-label={step.status} />
            <Text>{step.text.slice(0, 400)}</Text>
          </li>
        ))}
      </ul>
      {shown.length === items.length ? null : (
        <button class="link-button small" type="button" onClick={() => setAll(1)}>
          All {pluralize(items.length, 'step')}
        </button>
      )}
    </Panel>
  )
}

interface ItemPanelProps<T extends Item> {
  session: string
  title: string
  list: PublicList<T>
  note?: (item: T) => string
  mark?: (item: T) => string | undefined
}

function ItemPanel<T extends Item>({ title, list, ...rest }: ItemPanelProps<T>) {
  if (list.items.length + list.earlier === 0) return null
  return (
    <Panel title={title}>
      <ItemEntries list={list} {...rest} />
    </Panel>
  )
}

const SHOWN = 6

function ItemEntries<T extends Item>({
  session,
  list,
  note,
  mark,
}: Omit<ItemPanelProps<T>, 'title'>) {
  const shown = list.items.slice(-SHOWN).toReversed()
  const hidden = list.earlier + list.items.length - shown.length
  return (
    <>
      <ul class="plain-list facts">
        {shown.map((item) => {
          const more = note?.(item) ?? ''
          const tag = mark?.(item)
          return (
            <li key={item.id}>
              <span dir="auto">
                {tag === undefined ? null : <span class="tag">{tag}</span>}
                <Clip name={item.id} text={item.text} limit={400} lines={6}>
                  {(text) => <Text>{text}</Text>}
                </Clip>
                {more === '' ? null : (
                  <span class="note">
                    <Text>{more.slice(0, 400)}</Text>
                  </span>
                )}
              </span>
              <a
                class="when"
                href={hrefTo.session(session, { entry: item.id })}
                title="In the journal"
              >
                <Time at={item.at} />
              </a>
            </li>
          )
        })}
      </ul>
      {hidden === 0 ? null : (
        <button
          class="link-button small"
          type="button"
          onClick={() => setQuery({ tab: 'document' })}
        >
          {pluralize(hidden, 'earlier one')} in the document
        </button>
      )}
    </>
  )
}

/** What Stint itself cost in a session. Optional: nothing is shown while it loads or when it fails. */
function StintCosts({ session }: { session: string }) {
  const { value } = useResource(
    `ledger of ${session}`,
    (signal) => api.ledger({ session }, signal),
    (event) => event.type === 'entries' && event.session === session,
    LEDGER_PAUSE_MS,
  )
  if (value === undefined) return null
  const { costs, savings } = value.whole
  const avoided = avoidedIn(savings)
  const facts = [
    `${formatTokens(costs.injectedTokens)} tokens given`,
    ...(avoided === 0 ? [] : [`${formatTokens(avoided)} avoided`]),
    ...(costs.hooks === 0
      ? []
      : [`${formatMillis(costs.hookMs)} in ${pluralize(costs.hooks, 'hook')}`]),
    `${formatBytes(costs.bytes)} on disk`,
  ]
  return (
    <p class="muted small">
      Stint itself: {facts.join(' · ')} <a href={hrefTo.ledger(session)}>Ledger</a>
    </p>
  )
}
