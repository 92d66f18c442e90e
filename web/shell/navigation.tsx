import { useEffect, useState } from 'preact/hooks'
import type { ServerOverview } from '../../src/serve/contract.ts'
import { type LiveState, liveState } from '../data/live.ts'
import type { Resource } from '../data/resource.ts'
import { useStore } from '../data/store.ts'
import { isHelpOpen } from './keyboard.ts'
import { type Route, currentProject, href, navigate } from '../data/router.ts'
import { nextTheme, theme } from './theme.ts'

const LINKS: readonly {
  readonly path: string
  readonly name: string
  readonly views: readonly Route['view'][]
}[] = [
  { path: '/', name: 'Sessions', views: ['sessions', 'session'] },
  { path: '/conversations', name: 'Conversations', views: ['conversations', 'conversation'] },
  { path: '/search', name: 'Search', views: ['search'] },
  { path: '/runs', name: 'Runs', views: ['runs', 'run'] },
  { path: '/delegates', name: 'Delegates', views: ['delegates', 'delegate'] },
  { path: '/workflows', name: 'Workflows', views: ['workflows'] },
  { path: '/tasks', name: 'Tasks', views: ['tasks'] },
  { path: '/handoffs', name: 'Handoffs', views: ['handoffs', 'handoff'] },
  { path: '/usage', name: 'Usage', views: ['usage'] },
  { path: '/ledger', name: 'Ledger', views: ['ledger'] },
]

const LIVE_WORDS: Readonly<Record<LiveState, string>> = {
  connecting: 'Connecting',
  connected: 'Live',
  reconnecting: 'Reconnecting',
  refused: 'Refused',
}

export function Navigation({
  route,
  overview,
}: {
  route: Route
  overview: Resource<ServerOverview>
}) {
  const [isOpen, setOpen] = useState(false)
  const live = useStore(liveState)
  const chosen = useStore(theme)
  useEffect(() => setOpen(false), [route.view, route.id])
  return (
    <header class="rail" data-open={isOpen}>
      <div class="rail-head">
        <a class="brand" href={href('/')}>
          stint
        </a>
        <ProjectSwitch overview={overview} />
        <button
          class="menu-button"
          type="button"
          aria-expanded={isOpen}
          aria-controls="rooms"
          onClick={() => setOpen(!isOpen)}
        >
          Menu
        </button>
      </div>
      <nav id="rooms" class="rooms" aria-label="Main">
        <ul>
          {LINKS.map(({ path, name, views }) => (
            <li key={path}>
              <a href={href(path)} aria-current={views.includes(route.view) ? 'page' : undefined}>
                {name}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div class="rail-foot">
        <p
          class="live"
          data-state={live}
          role="status"
          title={live === 'refused' ? 'Open the address that `stint serve` printed.' : undefined}
        >
          {LIVE_WORDS[live]}
        </p>
        <button
          class="quiet-button"
          type="button"
          onClick={nextTheme}
          aria-label={`Theme: ${chosen}`}
        >
          {chosen}
        </button>
        <button
          class="quiet-button"
          type="button"
          onClick={() => isHelpOpen.set(true)}
          aria-label="Keyboard shortcuts"
        >
          ?
        </button>
      </div>
    </header>
  )
}

function ProjectSwitch({ overview: { value } }: { overview: Resource<ServerOverview> }) {
  if (value === undefined) return <div class="project-switch" />
  const key = currentProject() ?? value.here
  const isKnown = value.projects.some((project) => project.key === key)
  return (
    <select
      class="project-switch"
      aria-label="Project"
      value={key}
      onChange={({ currentTarget }) =>
        navigate(
          currentTarget.value === value.here ? '/' : href('/', { project: currentTarget.value }),
        )
      }
    >
      {isKnown ? null : <option value={key}>Unknown project</option>}
      {value.projects.map((project) => (
        <option key={project.key} value={project.key} title={project.root}>
          {project.name}
        </option>
      ))}
    </select>
  )
}
