// What the server tells by itself. One connection for the page; views listen to it.
//
// Nothing is lost: where events may have been missed (a new connection, a server that says so), every listener is told `reset` and asks
// anew. Nothing is doubled: what comes carries where it belongs, and whoever takes it compares.
import type { LiveEvent } from '../../src/serve/contract.ts'
import { currentProject, onProjectChange } from './router.ts'
import { type Store, createStore } from './store.ts'

export type LiveState = 'connecting' | 'connected' | 'reconnecting' | 'refused'

const FIRST_RETRY_MS = 500
const LAST_RETRY_MS = 10_000
// A browser opens six connections to one server, for all its tabs together.
const HIDDEN_FOR_MS = 30_000

export const liveState: Store<LiveState> = createStore<LiveState>('connecting')

const listeners = new Set<(event: LiveEvent) => void>()
let source: EventSource | undefined
let lastId = ''
let isAsked = false
let retryMs = FIRST_RETRY_MS
let retry: ReturnType<typeof setTimeout> | undefined
let settleFirst: () => void = () => undefined
const first = new Promise<void>((resolve) => {
  settleFirst = resolve
})

/** Resolves when what is asked from now on cannot miss an event, or when there is no connection to wait for. */
export async function whenLive(): Promise<void> {
  await first
  isAsked = true
}

export function onLive(listener: (event: LiveEvent) => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function tell(event: LiveEvent): void {
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
  // A connection tells of one project.
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
  const mine = new EventSource(
    project === undefined ? '/api/events' : `/api/events?project=${encodeURIComponent(project)}`,
  )
  source = mine
  mine.addEventListener('open', () => {
    retryMs = FIRST_RETRY_MS
    liveState.set('connected')
    // The browser asks to go on behind the last event by itself, but only where there was one.
    if (isAsked && lastId === '') tell({ type: 'reset' })
    settleFirst()
  })
  mine.addEventListener('message', (message: MessageEvent<string>) => {
    lastId = message.lastEventId
    tell(JSON.parse(message.data) as LiveEvent)
  })
  mine.addEventListener('error', () => {
    settleFirst()
    liveState.set('reconnecting')
    // While it is connecting the browser tries again itself; closed is for good.
    if (mine.readyState !== EventSource.CLOSED || source !== mine) return
    source = undefined
    retry = setTimeout(() => void again(), retryMs)
    retryMs = Math.min(retryMs * 2, LAST_RETRY_MS)
  })
}

/** An event source does not say why it was refused; the answer to a plain question does. */
async function again(): Promise<void> {
  const status = await fetch('/api/overview', { credentials: 'same-origin' }).then(
    (response) => response.status,
    () => 0,
  )
  liveState.set(status === 401 || status === 403 ? 'refused' : 'reconnecting')
  if (source === undefined) open()
}
