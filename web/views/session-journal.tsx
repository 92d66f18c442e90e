import { useEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks'
import type { PublicEntry } from '../../src/serve/contract.ts'
import { Clip } from '../components/clip.tsx'
import { pluralize } from '../components/format.ts'
import { UnfoldedContext } from '../components/unfolded.tsx'
import { Empty, Pending, Stale } from '../components/states.tsx'
import { Text, revealInvisible } from '../components/text.tsx'
import { Clock } from '../components/values.tsx'
import { type VirtualHandle, VirtualList } from '../lists/virtual-list.tsx'
import { useShortcuts } from '../shell/keyboard.ts'
import { setQuery, useQuery } from '../data/router.ts'
import { api } from '../data/api.ts'
import { JournalFeed } from '../data/journal-feed.ts'
import { onLive, whenLive } from '../data/live.ts'

type Group = PublicEntry['group']

const GROUPS: Readonly<Record<Group, string>> = {
  decisions: 'Decisions',
  findings: 'Findings',
  blockers: 'Blockers',
  steps: 'Steps',
  requests: 'Requests',
  code: 'Code',
  tasks: 'Tasks',
  context: 'Context',
  session: 'Session',
}

/** The newest entry is at the end, which is followed while the view is scrolled there. */
export function SessionJournal({ session }: { session: string }) {
  const feed = useJournal(session)
  const values = useQuery()
  const chosen = useMemo(
    () => new Set((values.get('kinds') ?? '').split(',').filter((name) => name !== '')),
    [values.get('kinds')],
  )
  const entry = values.get('entry')
  const handle = useRef<VirtualHandle>(null)
  const unfolded = useRef(new Map<string, number>())
  const [isAtEnd, setAtEnd] = useState(true)
  const isShown = ({ group }: PublicEntry) => chosen.size === 0 || chosen.has(group)
  const shown = useMemo(() => feed.entries.filter(isShown), [feed.entries, chosen])
  const first = useMemo(
    () => -feed.entries.slice(0, feed.earlier).filter(isShown).length,
    [feed.entries, feed.earlier, chosen],
  )
  const wanted = entry === null ? -1 : shown.findIndex(({ id }) => id === entry)

  // The wanted entry may be earlier than what is loaded, and a filter may leave too little to scroll.
  const needsEarlier = (entry !== null && wanted === -1) || (shown.length < 40 && chosen.size > 0)
  useEffect(() => {
    if (feed.hasEarlier && needsEarlier) void feed.loadEarlier()
  }, [feed.entries, needsEarlier])
  useEffect(() => {
    if (wanted !== -1) handle.current?.show(first + wanted)
  }, [entry, wanted === -1])

  useShortcuts('Journal', [
    { keys: 'G', label: 'To the newest entry', run: () => handle.current?.toEnd() },
    {
      keys: 'g g',
      label: 'To the earliest that is loaded',
      run: () => handle.current?.show(first),
    },
  ])

  if (!feed.isLoaded)
    return <Pending failure={feed.failure} retry={() => void feed.begin()} lines={10} />
  return (
    <UnfoldedContext.Provider value={unfolded.current}>
      <Stale failure={feed.failure} retry={() => void feed.catchUp()} />
      <Kinds chosen={chosen} />
      {shown.length === 0 ? (
        <Empty title={feed.hasEarlier ? 'Looking further back' : 'Nothing of this kind'}>
          {feed.hasEarlier ? null : (
            <>
              Agents write here by themselves; so can you, with <code>stint log</code>.
            </>
          )}
        </Empty>
      ) : (
        <VirtualList
          label={`Journal, ${pluralize(shown.length, 'entry', 'entries')}`}
          first={first}
          count={shown.length}
          estimate={44}
          listKey={[...chosen].join(',')}
          handle={handle}
          isFollowing={entry === null}
          onAtEnd={setAtEnd}
          onRange={(from) => {
            if (from <= first + 20) void feed.loadEarlier()
          }}
          row={(number) => {
            const line = shown[number - first]
            return line === undefined ? null : <Entry line={line} isWanted={line.id === entry} />
          }}
        />
      )}
      {isAtEnd || shown.length === 0 ? null : (
        <button class="to-end" type="button" onClick={() => handle.current?.toEnd()}>
          To the newest
        </button>
      )}
    </UnfoldedContext.Provider>
  )
}

function Kinds({ chosen }: { chosen: ReadonlySet<string> }) {
  const toggle = (name: Group) => {
    const next = chosen.has(name)
      ? [...chosen].filter((other) => other !== name)
      : [...chosen, name]
    setQuery({ kinds: next.join(','), entry: '' })
  }
  return (
    <div class="chips" role="group" aria-label="Kinds of entry">
      {(Object.keys(GROUPS) as Group[]).map((name) => (
        <button
          key={name}
          type="button"
          aria-pressed={chosen.has(name)}
          data-group={name}
          onClick={() => toggle(name)}
        >
          {GROUPS[name]}
        </button>
      ))}
    </div>
  )
}

function Entry({ line, isWanted }: { line: PublicEntry; isWanted: boolean }) {
  const text = line.text === '' ? fieldsOf(line.data) : line.text
  return (
    <article
      class="entry"
      data-group={line.group}
      data-taken-back={line.isRetracted}
      data-wanted={isWanted}
    >
      <a class="entry-time" href={`?${entryQuery(line.id)}`} title="Link to this entry">
        <Clock at={line.at} />
      </a>
      <span class="entry-kind">
        <Text>{line.label}</Text>
      </span>
      <div class="entry-text" dir="auto">
        {line.isRetracted ? <span class="tag">taken back</span> : null}
        <Clip name={line.id} text={text} limit={1200} lines={12}>
          {(shownText) => <span>{revealInvisible(shownText)}</span>}
        </Clip>
      </div>
      <span class="entry-by">{line.by === undefined ? null : <Text>{line.by}</Text>}</span>
    </article>
  )
}

function entryQuery(id: string): URLSearchParams {
  const query = new URLSearchParams(location.search)
  query.set('entry', id)
  query.delete('kinds')
  return query
}

const IS_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-|^[0-9a-f]{40}$/

/** The text for an entry without one: its plain fields without ids. */
function fieldsOf(data: Readonly<Record<string, unknown>>): string {
  if (typeof data.text === 'string') return data.text
  return Object.entries(data)
    .flatMap(([name, value]) => {
      if (typeof value === 'number' || typeof value === 'boolean') return [`${name} ${value}`]
      if (typeof value === 'string') return IS_ID.test(value) ? [] : [value]
      if (name === 'git' && typeof value === 'object' && value !== null)
        return [fieldsOf(value as Record<string, unknown>)]
      return []
    })
    .filter((text) => text !== '')
    .join(' · ')
}

function useJournal(session: string): JournalFeed {
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
    void whenLive().then(() => feed.begin())
    return onLive((event) => {
      if (event.type === 'reset') void feed.catchUp()
      else if (event.type === 'entries' && event.session === session) feed.receive(event)
    })
  }, [feed, session])
  return feed
}
