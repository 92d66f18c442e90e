import type { PricedConversation, SessionPage } from '../../src/serve/contract.ts'
import { api } from '../data/api.ts'
import { useResource } from '../data/resource.ts'
import { Progress, SpendLabel, StatusBadge, Time } from '../components/values.tsx'
import { pluralize } from '../components/format.ts'
import { Markdown } from '../markdown/markdown.tsx'
import { useIsWide } from '../components/media.ts'
import { Empty, Pending, Stale } from '../components/states.tsx'
import { Text } from '../components/text.tsx'
import { PromptBox } from '../prompt/prompt-box.tsx'
import { useShortcuts } from '../shell/keyboard.ts'
import { href, setQuery, useQuery } from '../data/router.ts'
import { SessionJournal } from './session-journal.tsx'
import { SessionOverview } from './session-overview.tsx'
import { ConversationCard } from '../components/conversation-card.tsx'

type TabName = 'overview' | 'journal' | 'document' | 'conversations'

export function SessionView({ id }: { id: string }) {
  const session = useResource(
    `session ${id}`,
    (signal) => api.session(id, signal),
    (event) => {
      if (event.type === 'session') return event.row.id === id
      if (event.type === 'entries') return event.session === id
      return event.type === 'handoffs' || event.type === 'delegate'
    },
  )
  const { value, failure, reload } = session
  if (value === undefined) return <Pending failure={failure} retry={reload} lines={12} isView />
  return (
    <div class="view">
      <Stale failure={failure} retry={reload} />
      <Page page={value} />
    </div>
  )
}

function Page({ page }: { page: SessionPage }) {
  const isWide = useIsWide()
  const tabQuery = useQuery().get('tab')
  const tabs: readonly Tab<TabName>[] = [
    ...(isWide ? [] : [{ name: 'overview', label: 'Overview' } as const]),
    { name: 'journal', label: 'Journal', count: page.state.counts.entries },
    { name: 'document', label: 'Document' },
    { name: 'conversations', label: 'Conversations', count: page.conversations.length },
  ]
  const chosen = tabs.find(({ name }) => name === tabQuery)?.name ?? 'journal'
  useShortcuts(
    'Session',
    tabs.map(({ name, label }, index) => ({
      keys: String(index + 1),
      label,
      run: () => setQuery({ tab: name }),
    })),
  )
  return (
    <>
      <Head page={page} />
      <div class="session-columns">
        <div class="session-main">
          <Tabs label="Parts of the session" tabs={tabs} chosen={chosen} />
          <div
            class="session-panel"
            id="tab-panel"
            role="tabpanel"
            aria-labelledby={`tab-${chosen}`}
          >
            {chosen === 'journal' ? <SessionJournal session={page.row.id} /> : null}
            {chosen === 'document' ? (
              <SessionDocument id={page.row.id} text={page.document} />
            ) : null}
            {chosen === 'conversations' ? (
              <SessionConversations lines={page.conversations} />
            ) : null}
            {chosen === 'overview' ? <SessionOverview page={page} /> : null}
          </div>
          <PromptBox session={page.row.id} />
        </div>
        {isWide ? (
          <aside class="session-aside" aria-label="Overview">
            <SessionOverview page={page} />
          </aside>
        ) : null}
      </div>
    </>
  )
}

function Head({ page: { row, state, spend, workflow } }: { page: SessionPage }) {
  const title = row.title === '' ? row.name : row.title
  return (
    <div class="session-head">
      <nav aria-label="Where this is" class="crumbs">
        <a href={href('/')}>Sessions</a>
        <span aria-hidden="true">/</span>
        <span class="mono">
          <Text>{row.name}</Text>
        </span>
      </nav>
      <h1 title={row.id}>
        <Text>{title}</Text>
      </h1>
      <div class="session-facts">
        <StatusBadge of={row.status} />
        {row.branch === undefined ? null : (
          <span class="mono branch">
            <Text>{row.branch}</Text>
          </span>
        )}
        <Progress done={row.counts.stepsDone} total={row.counts.steps} />
        {row.counts.openBlockers > 0 ? (
          <span class="blocked">{pluralize(row.counts.openBlockers, 'open blocker')}</span>
        ) : null}
        {workflow === undefined ? null : <a href={href('/workflows')}>{workflow.next.text}</a>}
        {state.compactions > 0 ? <span>{pluralize(state.compactions, 'compaction')}</span> : null}
        <SpendLabel spend={spend} />
        <span class="muted">
          worked on <Time at={row.updatedAt} />
        </span>
      </div>
    </div>
  )
}

/** The document without its frontmatter, which the head shows, and its marker. */
function SessionDocument({ id, text }: { id: string; text: string }) {
  const body = text.replace(/^---\n[\s\S]*?\n---\n/, '').replace(/\n<!-- [^\n]*-->\s*$/, '')
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="Document">
      <article class="document">
        <Markdown name={`document ${id}`} text={body} />
      </article>
    </div>
  )
}

export function SessionConversations({ lines }: { lines: readonly PricedConversation[] }) {
  if (lines.length === 0)
    return (
      <Empty title="No conversations yet">
        They are stored as agents work here. Those from before can be brought in with{' '}
        <code>stint import</code>.
      </Empty>
    )
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="Conversations">
      <ul class="lines">
        {lines.map((line) => (
          <li key={line.id}>
            <ConversationCard line={line} />
          </li>
        ))}
      </ul>
    </div>
  )
}

interface Tab<Name extends string> {
  readonly name: Name
  readonly label: string
  readonly count?: number
}

/** The chosen tab is in the URL as `tab`. */
function Tabs<Name extends string>({
  label,
  tabs,
  chosen,
}: {
  label: string
  tabs: readonly Tab<Name>[]
  chosen: Name
}) {
  const move = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (step === 0) return
    event.preventDefault()
    const at = tabs.findIndex(({ name }) => name === chosen)
    const next = tabs[(at + step + tabs.length) % tabs.length]!
    setQuery({ tab: next.name })
    document.getElementById(`tab-${next.name}`)?.focus()
  }
  return (
    <div class="tabs" role="tablist" aria-label={label} onKeyDown={move}>
      {tabs.map(({ name, label: text, count }) => (
        <button
          key={name}
          id={`tab-${name}`}
          role="tab"
          type="button"
          aria-selected={name === chosen}
          aria-controls="tab-panel"
          tabIndex={name === chosen ? 0 : -1}
          onClick={() => setQuery({ tab: name })}
        >
          {text}
          {count === undefined ? null : <span class="tab-count">{count}</span>}
        </button>
      ))}
    </div>
  )
}
