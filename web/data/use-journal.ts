import { useEffect, useReducer, useRef } from 'preact/hooks'
import { api } from './api.ts'
import { JournalFeed } from './journal-feed.ts'
import { liveIsUp, onLive } from './live.ts'

/** The journal of a session, for as long as somebody looks at it. */
export function useJournal(session: string): JournalFeed {
  const [, rerender] = useReducer((turn: number) => turn + 1, 0)
  const held = useRef<{ session: string; feed: JournalFeed }>(null)
  if (held.current?.session !== session) {
    const feed = new JournalFeed(
      (at) => api.entries(session, at),
      () => rerender(undefined),
    )
    held.current = { session, feed }
  }
  const { feed } = held.current
  useEffect(() => {
    void liveIsUp().then(() => feed.begin())
    return onLive((event) => {
      if (event.type === 'reset') void feed.catchUp()
      else if (event.type === 'entries' && event.session === session) feed.take(event)
    })
  }, [feed, session])
  return feed
}
