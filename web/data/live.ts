// One event connection for the whole page. Where events may have been missed (a new connection, or the server says so), every listener
// gets `reset` and loads again. Events carry their position, so listeners can drop duplicates.
import type { LiveEvent } from '../../src/serve/contract.ts'
import { currentProject, onProjectChange } from './router.ts'
import { type Store, createStore } from './store.ts'

export type LiveState = 'connecting' | 'connected' | 'reconnecting' | 'refused'

const FIRST_RETRY_MS = 500
const LAST_RETRY_MS = 10_000
// A browser opens six connections to one server for all its tabs, so hidden tabs give theirs up.
const HIDDEN_FOR_MS = 30_000

export const liveState: Store<LiveState> = createStore<LiveState>('connecting')

const listeners = new Set<(event: LiveEvent) => void>()
let source: EventSource | undefined
let lastId = ''
let hasRequested = false
let retryMs = FIRST_RETRY_MS
let retry: ReturnType<typeof setTimeout> | undefined
let resolveFirst: () => void = () => undefined
const first = new Promise<void>((resolve) => {
  resolveFirst = resolve
})

/** Resolves when requests from now on cannot miss an event, or when there is no connection to wait for. */
export async function whenLive(): Promise<void> {
  await first
  hasRequested = true
}

export function onLive(listener: (event: LiveEvent) => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function emit(event: LiveEvent): void {
  for (const listener of listeners) listener(event)
}

export function connectLive(): void {
  open()
  let hidden: ReturnType<typeof setTimeout> | undefined
  document.addEventListener('visibilitychange', () => {
    clearTimeout(hidden)
    if (document.visibilityState === 'hidden') hidden = setTimeout(close, HIDDEN_FOR_MS)
    else if (source === undefined) open()
  })
  globalThis.addEventListener('online', () => source === undefined && open())
  // A connection reports one project.
  onProjectChange(open)
}

function close(): void {
  clearTimeout(retry)
  source?.close()
  source = undefined
}

function open(): void {
  close()
  lastId = ''
  const project = currentProject()
  const opened = new EventSource(
    project === undefined ? '/api/events' : `/api/events?project=${encodeURIComponent(project)}`,
  )
  source = opened
  opened.addEventListener('open', () => {
    retryMs = FIRST_RETRY_MS
    liveState.set('connected')
    // The browser resumes after the last event by itself, but only if there was one.
    if (hasRequested && lastId === '') emit({ type: 'reset' })
    resolveFirst()
  })
  opened.addEventListener('message', (message: MessageEvent<string>) => {
    lastId = message.lastEventId
    emit(JSON.parse(message.data) as LiveEvent)
  })
  opened.addEventListener('error', () => {
    resolveFirst()
    liveState.set('reconnecting')
    // While connecting the browser retries itself; CLOSED is final.
    if (opened.readyState !== EventSource.CLOSED || source !== opened) return
    source = undefined
    retry = setTimeout(() => void reconnect(), retryMs)
    retryMs = Math.min(retryMs * 2, LAST_RETRY_MS)
  })
}

/** An EventSource does not report why it was refused; a plain request does. */
async function reconnect(): Promise<void> {
  const status = await fetch('/api/overview', { credentials: 'same-origin' }).then(
    (response) => response.status,
    () => 0,
  )
  liveState.set(status === 401 || status === 403 ? 'refused' : 'reconnecting')
  if (source === undefined) open()
}
