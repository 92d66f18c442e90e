import { createStore, useStore } from './store.ts'

export type Route =
  | {
      readonly view:
        | 'sessions'
        | 'conversations'
        | 'search'
        | 'runs'
        | 'delegates'
        | 'workflows'
        | 'tasks'
        | 'handoffs'
        | 'usage'
        | 'ledger'
        | 'nowhere'
      readonly id?: undefined
    }
  | {
      readonly view: 'session' | 'conversation' | 'run' | 'delegate' | 'handoff'
      readonly id: string
    }

const LIST_VIEWS = [
  'conversations',
  'search',
  'runs',
  'delegates',
  'workflows',
  'tasks',
  'handoffs',
  'usage',
  'ledger',
] as const
const DETAIL_VIEWS = {
  s: 'session',
  c: 'conversation',
  runs: 'run',
  delegates: 'delegate',
  handoffs: 'handoff',
} as const

export function parseRoute(path: string): Route {
  const [first = '', id, ...rest] = path.split('/').slice(1)
  if (rest.length > 0) return { view: 'nowhere' }
  if (id !== undefined && id !== '') {
    if (!Object.hasOwn(DETAIL_VIEWS, first)) return { view: 'nowhere' }
    try {
      return { view: DETAIL_VIEWS[first as keyof typeof DETAIL_VIEWS], id: decodeURIComponent(id) }
    } catch {
      return { view: 'nowhere' } // a stray percent sign
    }
  }
  if (first === '') return { view: 'sessions' }
  const view = LIST_VIEWS.find((name) => name === first)
  return { view: view ?? 'nowhere' }
}

const address = createStore(location.pathname + location.search)
globalThis.addEventListener('popstate', () => address.set(location.pathname + location.search))

/** Follows links within the page without reloading it; everything else is left to the browser. */
export function followLinks(): void {
  document.addEventListener('click', (event) => {
    if (
      event.defaultPrevented ||
      event.button !== 0 ||
      event.metaKey ||
      event.ctrlKey ||
      event.shiftKey ||
      event.altKey
    )
      return
    const link = event.target instanceof Element ? event.target.closest('a') : null
    if (
      link === null ||
      link.target !== '' ||
      link.origin !== location.origin ||
      link.hasAttribute('download')
    )
      return
    if (link.hash !== '' && link.pathname === location.pathname) return
    event.preventDefault()
    navigate(link.pathname + link.search)
  })
}

export function navigate(path: string): void {
  if (path !== address.get()) history.pushState(null, '', path)
  address.set(path)
}

export function useRoute(): Route {
  return parseRoute(useStore(address).replace(/\?.*$/, ''))
}

export function useQuery(): URLSearchParams {
  return new URLSearchParams(useStore(address).replace(/^[^?]*/, ''))
}

/** Replaces the history entry, so that Back leads to the previous view and not to every keystroke. */
export function setQuery(changes: Readonly<Record<string, string | undefined>>): void {
  const values = new URLSearchParams(location.search)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') values.delete(name)
    else values.set(name, value)
  }
  const path = location.pathname + (values.size === 0 ? '' : `?${values}`)
  history.replaceState(null, '', path)
  address.set(path)
}

/** Undefined for the project that the server was started in. */
export function currentProject(): string | undefined {
  return new URLSearchParams(location.search).get('project') ?? undefined
}

export function onProjectChange(listener: () => void): void {
  let project = currentProject()
  address.subscribe(() => {
    if (currentProject() === project) return
    project = currentProject()
    listener()
  })
}

/** A URL within the page, in the same project. */
export function href(
  path: string,
  values: Readonly<Record<string, string | number | undefined>> = {},
): string {
  const query = new URLSearchParams()
  const all: typeof values = { project: currentProject(), ...values }
  for (const [name, value] of Object.entries(all))
    if (value !== undefined && value !== '') query.set(name, String(value))
  return query.size === 0 ? path : `${path}?${query}`
}

export const hrefTo = {
  session: (id: string, values?: { entry?: string; tab?: string }) =>
    href(`/s/${encodeURIComponent(id)}`, values),
  conversation: (id: string, item?: number) => href(`/c/${encodeURIComponent(id)}`, { item }),
  run: (id: string) => href(`/runs/${encodeURIComponent(id)}`),
  delegate: (id: string) => href(`/delegates/${encodeURIComponent(id)}`),
  ledger: (session: string) => href('/ledger', { session }),
  handoff: (id: string) => href(`/handoffs/${encodeURIComponent(id)}`),
} as const
