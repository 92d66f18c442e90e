import type { ComponentChildren } from 'preact'
import type { Item, PublicList, SessionPage } from '../../src/serve/contract.ts'
import { TokenCurveChart } from '../charts/token-curve.tsx'
import { StatusBadge } from '../components/values.tsx'
import { Clip } from '../components/clip.tsx'
import { pluralize, formatBytes, formatMillis, formatTokens } from '../components/format.ts'
import { useUnfolded } from '../components/unfolded.tsx'
import { Text, revealInvisible } from '../components/text.tsx'
import { Time } from '../components/values.tsx'
import { href, hrefTo, setQuery } from '../data/router.ts'
import { api } from '../data/api.ts'
import { useResource } from '../data/resource.ts'
import { LEDGER_PAUSE_MS, avoidedIn } from './ledger.tsx'

/** What a session amounts to: the goal, what is open, what was decided and found. */
export function SessionOverview({ page }: { page: SessionPage }) {
  const { state, row, delegates, conversations } = page
  const open = state.openBlockers
  const handoffs = state.handoffs.items
  const latest = conversations.findLast(({ isStored }) => isStored)
  return (
    <div class="overview">
      {row.goal === '' ? null : (
        <Part title="Goal">
          <Passage name="goal" text={row.goal} />
        </Part>
      )}
      {state.tldrWritten === undefined ? null : (
        <Part
          title={
            state.tldrWritten.isOutdated
              ? 'Where it stands (before the latest entries)'
              : 'Where it stands'
          }
        >
          <Passage name="tldr" text={state.tldrWritten.text} />
        </Part>
      )}
      {open.length === 0 ? null : (
        <Part title="Open blockers" tone="bad">
          <Items session={row.id} shelf={{ earlier: 0, items: open }} />
        </Part>
      )}
      <Steps page={page} />
      <Listed session={row.id} title="Next" shelf={state.next} />
      <Listed
        session={row.id}
        title="Decisions"
        shelf={state.decisions}
        note={({ choice, rationale }) => [choice, rationale].filter(Boolean).join(' · ')}
      />
      <Listed
        session={row.id}
        title="Discoveries"
        shelf={state.discoveries}
        mark={({ gotcha }) => (gotcha ? 'gotcha' : undefined)}
      />
      {state.tasks.length === 0 ? null : (
        <Part title="Tasks">
          <ul class="plain-list">
            {state.tasks.map((task) => (
              <li key={task}>
                <a class="mono" href={href('/tasks', { task })}>
                  <Text>{task}</Text>
                </a>
              </li>
            ))}
          </ul>
        </Part>
      )}
      {delegates.length === 0 ? null : (
        <Part title="Delegates">
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
        </Part>
      )}
      {handoffs.length === 0 ? null : (
        <Part title="Handoffs">
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
        </Part>
      )}
      {latest === undefined ? null : <TokenCurveChart conversation={latest.id} />}
      <OwnCosts session={row.id} />
    </div>
  )
}

function Part({
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
      {(piece) => (
        <p class="passage" dir="auto">
          {revealInvisible(piece)}
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
    <Part title="Steps">
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
    </Part>
  )
}

interface ListedProps<T extends Item> {
  session: string
  title: string
  shelf: PublicList<T>
  note?: (item: T) => string
  mark?: (item: T) => string | undefined
}

/** The latest few of a list; the others are in the document. */
function Listed<T extends Item>({ title, shelf, ...rest }: ListedProps<T>) {
  if (shelf.items.length + shelf.earlier === 0) return null
  return (
    <Part title={title}>
      <Items shelf={shelf} {...rest} />
    </Part>
  )
}

const SHOWN = 6

function Items<T extends Item>({ session, shelf, note, mark }: Omit<ListedProps<T>, 'title'>) {
  const shown = shelf.items.slice(-SHOWN).toReversed()
  const hidden = shelf.earlier + shelf.items.length - shown.length
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

/** What Stint itself cost in a session, in a line. Nobody waits for it, and where it cannot be had nothing is missing. */
function OwnCosts({ session }: { session: string }) {
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
