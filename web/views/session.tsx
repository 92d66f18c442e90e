import type { SessionPage } from '../../src/serve/contract.ts'
import { api } from '../data/api.ts'
import { useResource } from '../data/resource.ts'
import { Status } from '../parts/badge.tsx'
import { amount } from '../parts/format.ts'
import { Markdown } from '../markdown/markdown.tsx'
import { useIsWide } from '../parts/media.ts'
import { Progress } from '../parts/progress.tsx'
import { Spent } from '../parts/spent.tsx'
import { Failure, Loading, Stale } from '../parts/states.tsx'
import { type Tab, Tabs } from '../parts/tabs.tsx'
import { Text } from '../parts/text.tsx'
import { Time } from '../parts/time.tsx'
import { PromptBox } from '../prompt/prompt-box.tsx'
import { useShortcuts } from '../shell/keyboard.ts'
import { href, setValues, useValues } from '../data/router.ts'
import { Conversations } from './session/conversations.tsx'
import { JournalList } from './session/journal.tsx'
import { Overview } from './session/overview.tsx'

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
  if (value === undefined)
    return failure === undefined ? (
      <Loading lines={12} />
    ) : (
      <Failure failure={failure} retry={reload} isView />
    )
  return (
    <div class="view">
      {failure === undefined ? null : <Stale failure={failure} retry={reload} />}
      <Page page={value} />
    </div>
  )
}

function Page({ page }: { page: SessionPage }) {
  const isWide = useIsWide()
  const asked = useValues().get('tab')
  const tabs: readonly Tab<TabName>[] = [
    ...(isWide ? [] : [{ name: 'overview', label: 'Overview' } as const]),
    { name: 'journal', label: 'Journal', count: page.state.counts.entries },
    { name: 'document', label: 'Document' },
    { name: 'conversations', label: 'Conversations', count: page.conversations.length },
  ]
  const chosen = tabs.find(({ name }) => name === asked)?.name ?? 'journal'
  useShortcuts(
    'Session',
    tabs.map(({ name, label }, index) => ({
      keys: String(index + 1),
      what: label,
      run: () => setValues({ tab: name }),
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
            {chosen === 'journal' ? <JournalList session={page.row.id} /> : null}
            {chosen === 'document' ? (
              <SessionDocument id={page.row.id} text={page.document} />
            ) : null}
            {chosen === 'conversations' ? <Conversations lines={page.conversations} /> : null}
            {chosen === 'overview' ? <Overview page={page} /> : null}
          </div>
          <PromptBox session={page.row.id} />
        </div>
        {isWide ? (
          <aside class="session-aside" aria-label="Overview">
            <Overview page={page} />
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
        <Status of={row.status} />
        {row.branch === undefined ? null : (
          <span class="mono branch">
            <Text>{row.branch}</Text>
          </span>
        )}
        <Progress done={row.counts.stepsDone} total={row.counts.steps} />
        {row.counts.openBlockers > 0 ? (
          <span class="blocked">{amount(row.counts.openBlockers, 'open blocker')}</span>
        ) : null}
        {workflow === undefined ? null : <a href={href('/workflows')}>{workflow.next.text}</a>}
        {state.compactions > 0 ? <span>{amount(state.compactions, 'compaction')}</span> : null}
        <Spent spend={spend} />
        <span class="muted">
          worked on <Time at={row.updatedAt} />
        </span>
      </div>
    </div>
  )
}

/** The document without what is for Stint alone: the fields at its top, which the head shows, and the marker at its end. */
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
