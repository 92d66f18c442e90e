import { useEffect, useRef } from 'preact/hooks'
import { api } from './data/api.ts'
import { useResource } from './data/resource.ts'
import { Empty, FailureMessage } from './components/states.tsx'
import { isHelpOpen, shortcutGroups, useShortcuts } from './shell/keyboard.ts'
import { Navigation } from './shell/navigation.tsx'
import { type Route, currentProject, href, navigate, useQuery, useRoute } from './data/router.ts'
import { nextTheme } from './shell/theme.ts'
import { ConversationView } from './views/conversation.tsx'
import { ConversationsView } from './views/conversations.tsx'
import { DelegateView } from './views/delegate.tsx'
import { DelegatesView } from './views/delegates.tsx'
import { HandoffView } from './views/handoff.tsx'
import { HandoffsView } from './views/handoffs.tsx'
import { LedgerView } from './views/ledger.tsx'
import { RunView } from './views/run.tsx'
import { RunsView } from './views/runs.tsx'
import { SearchView } from './views/search.tsx'
import { SessionView } from './views/session.tsx'
import { SessionsView } from './views/sessions.tsx'
import { TasksView } from './views/tasks.tsx'
import { UsageView } from './views/usage.tsx'
import { WorkflowsView } from './views/workflows.tsx'
import { Component, type ComponentChildren } from 'preact'
import { asFailure } from './data/failure.ts'
import { useStore } from './data/store.ts'

export function App() {
  const route = useRoute()
  // Another project is other data, so its views are mounted again.
  const project = useQuery().get('project') ?? ''
  const overview = useResource(
    `overview ${project}`,
    api.overview,
    (event) => event.type === 'session',
  )
  useShortcuts('Everywhere', [
    { keys: 'g s', label: 'Sessions', run: () => navigate(href('/')) },
    { keys: 'g c', label: 'Conversations', run: () => navigate(href('/conversations')) },
    { keys: 'g f', label: 'Search', run: () => navigate(href('/search')) },
    { keys: 'g r', label: 'Runs', run: () => navigate(href('/runs')) },
    { keys: 'g d', label: 'Delegates', run: () => navigate(href('/delegates')) },
    { keys: 'g w', label: 'Workflows', run: () => navigate(href('/workflows')) },
    { keys: 'g t', label: 'Tasks', run: () => navigate(href('/tasks')) },
    { keys: 'g h', label: 'Handoffs', run: () => navigate(href('/handoffs')) },
    { keys: 'g u', label: 'Usage', run: () => navigate(href('/usage')) },
    { keys: 'g l', label: 'Ledger', run: () => navigate(href('/ledger')) },
    { keys: '/', label: 'Write what to look for', run: focusSearch },
    { keys: 't', label: 'Theme: system, light, dark', run: nextTheme },
    { keys: '?', label: 'This help', run: () => isHelpOpen.set(true) },
  ])
  useEffect(() => {
    document.title = `${pageTitle(route)} · Stint`
  }, [route.view, route.id])

  return (
    <div class="shell">
      <a class="skip-link" href="#main">
        Skip to the content
      </a>
      <Navigation route={route} overview={overview} />
      <main id="main" class="main" tabIndex={-1}>
        <ErrorBoundary key={`${project} ${route.view} ${route.id ?? ''}`}>
          <View route={route} />
        </ErrorBoundary>
      </main>
      <ShortcutHelp />
    </div>
  )
}

function View({ route }: { route: Route }) {
  switch (route.view) {
    case 'sessions':
      return <SessionsView />
    case 'session':
      return <SessionView id={route.id} />
    case 'conversations':
      return <ConversationsView />
    case 'conversation':
      return <ConversationView id={route.id} />
    case 'search':
      return <SearchView />
    case 'runs':
      return <RunsView />
    case 'run':
      return <RunView id={route.id} />
    case 'delegates':
      return <DelegatesView />
    case 'delegate':
      return <DelegateView id={route.id} />
    case 'workflows':
      return <WorkflowsView />
    case 'tasks':
      return <TasksView />
    case 'handoffs':
      return <HandoffsView />
    case 'handoff':
      return <HandoffView id={route.id} />
    case 'usage':
      return <UsageView />
    case 'ledger':
      return <LedgerView />
    case 'nowhere':
      return (
        <Empty title="There is no such page">
          <a href={href('/')}>All sessions</a>
        </Empty>
      )
  }
}

function focusSearch(): void {
  const field = document.querySelector<HTMLInputElement>('main input[type=search]')
  if (field === null) return navigate(href('/search', { project: currentProject() }))
  field.focus()
  field.select()
}

function pageTitle({ view }: Route): string {
  return view.slice(0, 1).toUpperCase() + view.slice(1)
}

/** A view that throws does not break the rest of the page. */
class ErrorBoundary extends Component<{ children: ComponentChildren }, { error?: unknown }> {
  override state: { error?: unknown } = {}

  override componentDidCatch(error: unknown): void {
    console.error(error)
    this.setState({ error })
  }

  override render() {
    if (this.state.error === undefined) return this.props.children
    return (
      <FailureMessage
        failure={asFailure(this.state.error)}
        retry={() => this.setState({ error: undefined })}
      />
    )
  }
}

function ShortcutHelp() {
  const isOpen = useStore(isHelpOpen)
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    if (isOpen) dialog.current?.showModal()
    else dialog.current?.close()
  }, [isOpen])
  return (
    <dialog
      ref={dialog}
      class="help"
      aria-labelledby="help-title"
      onClose={() => isHelpOpen.set(false)}
    >
      <div class="help-head">
        <h2 id="help-title">Keyboard</h2>
        <form method="dialog">
          <button class="quiet-button">Close</button>
        </form>
      </div>
      {isOpen
        ? shortcutGroups().map(({ title, shortcuts }) => (
            <section key={title}>
              <h3>{title}</h3>
              <dl class="shortcuts">
                {shortcuts.map(({ keys, label }) => (
                  <div key={keys}>
                    <dt>
                      {keys.split(' ').map((key) => (
                        <kbd key={key}>{key}</kbd>
                      ))}
                    </dt>
                    <dd>{label}</dd>
                  </div>
                ))}
              </dl>
            </section>
          ))
        : null}
    </dialog>
  )
}
