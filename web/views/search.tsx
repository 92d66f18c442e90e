import { useEffect, useState } from 'preact/hooks'
import type { SearchResult } from '../../src/serve/contract.ts'
import { api } from '../data/api.ts'
import { useResource } from '../data/resource.ts'
import { pluralize } from '../components/format.ts'
import { Empty, Loaded } from '../components/states.tsx'
import { Snippet, Text } from '../components/text.tsx'
import { Time } from '../components/values.tsx'
import { useShortcuts } from '../shell/keyboard.ts'
import { currentProject, href, hrefTo, setQuery, useQuery } from '../data/router.ts'
import { useTypedValue } from '../shell/typed-value.ts'

const PAGE_SIZE = 60
/** How soon the search is repeated while something is not indexed yet. */
const RETRY_MS = 3_000
const SOURCES = { '': 'Everything', journal: 'Journals', said: 'Conversations' } as const

export function SearchView() {
  const values = useQuery()
  const text = values.get('q') ?? ''
  const where = values.get('in') ?? ''
  const [typed, setTyped] = useTypedValue('q', text)
  useShortcuts('Search', [
    { keys: 'j', label: 'Next hit', run: () => moveFocus(1) },
    { keys: 'k', label: 'Hit before', run: () => moveFocus(-1) },
  ])
  return (
    <div class="view">
      <div class="view-head">
        <h1>Search</h1>
        <span class="aside">what was journalled, and what was said</span>
      </div>
      <search class="filters" aria-label="Search everything">
        <input
          class="field"
          type="search"
          aria-label="Words to look for"
          placeholder='Words, "a phrase", or pre*'
          spellcheck={false}
          autocomplete="off"
          autofocus={text === ''}
          value={typed}
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        <div class="segments" role="group" aria-label="Where">
          {Object.entries(SOURCES).map(([name, words]) => (
            <button
              key={name}
              type="button"
              aria-pressed={where === name}
              onClick={() => setQuery({ in: name })}
            >
              {words}
            </button>
          ))}
        </div>
      </search>
      <div class="view-body search-body" tabIndex={-1}>
        {text.trim() === '' ? (
          <Empty title="Look for anything that was said or written down">
            All words have to occur. Put a phrase in quotation marks, and a star behind the
            beginning of a word. In a terminal: <code>stint search "login loop"</code>
          </Empty>
        ) : (
          <Hits key={`${text}\n${where}`} text={text} where={where} />
        )}
      </div>
    </div>
  )
}

function Hits({ text, where }: { text: string; where: string }) {
  const [limit, setLimit] = useState(PAGE_SIZE)
  const found = useResource(`${currentProject()} ${text} ${limit}`, (signal) =>
    api.search(text, limit, signal),
  )
  return (
    <Loaded resource={found}>
      {({ hits, unreadBytes }) => {
        const unread =
          unreadBytes === undefined ? null : (
            <Unread bytes={unreadBytes} retry={() => found.reload()} />
          )
        const shown = hits.filter((hit) => where === '' || hit.where === where)
        if (shown.length === 0)
          return (
            <>
              {unread}
              <Empty title="Nothing found">
                {hits.length > 0
                  ? 'There is something elsewhere.'
                  : 'Fewer words, or the beginning of one with a star, find more.'}
              </Empty>
            </>
          )
        return (
          <>
            {unread}
            <p class="muted small" role="status">
              {hits.length < limit
                ? pluralize(shown.length, 'hit')
                : `The ${shown.length} best hits`}
            </p>
            {bySession(shown).map(([name, { title, link, lines }]) => (
              <section key={name} class="hits">
                <h2>
                  {link === undefined ? (
                    <Text>{title}</Text>
                  ) : (
                    <a href={link}>
                      <Text>{title}</Text>
                    </a>
                  )}
                </h2>
                <ul>
                  {lines.map((hit, index) => (
                    <li key={index}>
                      <Hit hit={hit} />
                    </li>
                  ))}
                </ul>
              </section>
            ))}
            {hits.length < limit ? null : (
              <button class="button" type="button" onClick={() => setLimit(limit + PAGE_SIZE * 2)}>
                Show more
              </button>
            )}
          </>
        )
      }}
    </Loaded>
  )
}

/** Reports what is not searched yet, and repeats the search until it is. */
function Unread({ bytes, retry }: { bytes: number; retry: () => void }) {
  useEffect(() => {
    const timer = setTimeout(retry, RETRY_MS)
    return () => clearTimeout(timer)
  })
  return (
    <p class="muted small" role="status">
      {`${Math.max(1, Math.round(bytes / 1_000_000))} MB of what was said are not searched yet`}
    </p>
  )
}

function Hit({ hit }: { hit: SearchResult }) {
  return (
    <a class="hit" href={addressOf(hit)}>
      <span class="hit-kind">{hit.where === 'said' ? `said · ${hit.label}` : hit.label}</span>
      <Snippet text={hit.snippet} />
      <span class="hit-time">{hit.at === undefined ? null : <Time at={hit.at} />}</span>
    </a>
  )
}

function addressOf({ where, conversation, item, session, entry }: SearchResult): string {
  if (where === 'said' && conversation !== undefined) return hrefTo.conversation(conversation, item)
  return session === undefined
    ? href('/')
    : hrefTo.session(session, entry === undefined ? {} : { entry })
}

interface Group {
  readonly title: string
  readonly link?: string
  readonly lines: SearchResult[]
}

/** In the order of each group's best hit. */
function bySession(hits: readonly SearchResult[]): readonly (readonly [string, Group])[] {
  const groups = new Map<string, Group>()
  for (const hit of hits) {
    const name = hit.session ?? hit.conversation ?? ''
    const group = groups.get(name) ?? {
      title: hit.sessionName ?? hit.session ?? 'In no session',
      ...(hit.session === undefined ? {} : { link: hrefTo.session(hit.session) }),
      lines: [],
    }
    group.lines.push(hit)
    groups.set(name, group)
  }
  return [...groups]
}

function moveFocus(step: number): void {
  const hits = [...document.querySelectorAll<HTMLElement>('.hit')]
  const at = hits.findIndex((hit) => hit === document.activeElement)
  hits[at === -1 ? 0 : Math.max(0, Math.min(hits.length - 1, at + step))]?.focus()
}
