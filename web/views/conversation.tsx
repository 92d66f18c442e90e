import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { ConversationPage, HistoryItem } from '../../src/serve/contract.ts'
import { TokenCurveChart } from '../charts/token-curve.tsx'
import { api } from '../data/api.ts'
import { onLive } from '../data/live.ts'
import { usePagedList } from '../data/paged-list.ts'
import { pluralize } from '../components/format.ts'
import { useIsWide } from '../components/media.ts'
import { UnfoldedContext } from '../components/unfolded.tsx'
import { ConversationFacts } from '../components/conversation-card.tsx'
import { Time } from '../components/values.tsx'
import { Empty, Pending, Stale } from '../components/states.tsx'
import { Text } from '../components/text.tsx'
import { type VirtualHandle, VirtualList } from '../lists/virtual-list.tsx'
import { useShortcuts } from '../shell/keyboard.ts'
import { href, hrefTo, useQuery } from '../data/router.ts'
import { ItemRow } from './conversation/item.tsx'

export function ConversationView({ id }: { id: string }) {
  const [head, setHead] = useState<Omit<ConversationPage, 'items' | 'from'>>()
  // There may be tens of thousands of requests: each page brings only the unknown ones.
  const known = useRef({ id, number: 0 })
  if (known.current.id !== id) known.current = { id, number: 0 }
  const list = usePagedList<HistoryItem>(id, async (from, limit, signal) => {
    const current = known.current
    const {
      items,
      from: _,
      ...rest
    } = await api.conversation(id, { from, limit, known: current.number }, signal)
    current.number = Math.max(
      rest.requestsFrom === 0 ? 0 : current.number,
      rest.requestsFrom + rest.requests.length,
    )
    setHead((old) => (old === undefined || old.line.id !== id ? rest : mergeHead(rest, old)))
    return { rows: items, total: rest.total }
  })
  useEffect(
    () =>
      onLive((event) => {
        if (event.type === 'reset') list.refresh()
        else if (event.type === 'conversation' && event.conversation === id) list.grow(event.total)
      }),
    [list, id],
  )
  if (head === undefined)
    return <Pending failure={list.failure} retry={() => list.refresh()} lines={12} isView />
  return (
    <div class="view">
      <Stale failure={list.failure} retry={() => list.refresh()} />
      <Reader id={id} head={head} list={list} />
    </div>
  )
}

/** Keeps the old lists where nothing was added, so that memoised values stay valid. */
function mergeHead<T extends Pick<ConversationPage, 'requests' | 'requestsFrom' | 'compactions'>>(
  fresh: T,
  old: T,
): T {
  const count = fresh.requestsFrom + fresh.requests.length
  return {
    ...fresh,
    // Of two concurrent responses the later one may be older.
    requests:
      count === old.requests.length || (count < old.requests.length && fresh.requestsFrom > 0)
        ? old.requests
        : [...old.requests.slice(0, fresh.requestsFrom), ...fresh.requests],
    compactions:
      fresh.compactions.length === old.compactions.length ? old.compactions : fresh.compactions,
  }
}

interface ReaderProps {
  id: string
  head: Omit<ConversationPage, 'items' | 'from'>
  list: ReturnType<typeof usePagedList<HistoryItem>>
}

function Reader({ id, head, list }: ReaderProps) {
  const isWide = useIsWide()
  const itemQuery = useQuery().get('item')
  const wanted = itemQuery === null ? undefined : Number(itemQuery)
  const handle = useRef<VirtualHandle>(null)
  const unfolded = useRef(new Map<string, number>())
  const [isUnfolded, setUnfolded] = useState(false)
  const [top, setTop] = useState(0)
  const total = list.total ?? head.total
  const requests = useMemo(() => head.requests.map(({ number }) => number), [head.requests])

  useEffect(() => {
    if (wanted !== undefined && wanted >= 0 && wanted < total) handle.current?.show(wanted)
  }, [wanted])

  const show = (number: number | undefined) => {
    if (number !== undefined) handle.current?.show(number)
  }
  useShortcuts('Conversation', [
    { keys: 'j', label: 'Next message', run: () => show(Math.min(total - 1, top + 1)) },
    { keys: 'k', label: 'Message before', run: () => show(Math.max(0, top - 1)) },
    { keys: 'n', label: 'Next request', run: () => show(nextAfter(requests, top)) },
    { keys: 'p', label: 'Request before', run: () => show(lastBefore(requests, top)) },
    { keys: 'c', label: 'Next compaction', run: () => show(nextAfter(head.compactions, top)) },
    { keys: 'C', label: 'Compaction before', run: () => show(lastBefore(head.compactions, top)) },
    {
      keys: 'e',
      label: 'Unfold tools and thoughts, or fold them',
      run: () => setUnfolded(!isUnfolded),
    },
    { keys: 'G', label: 'To the end', run: () => handle.current?.toEnd() },
    { keys: 'g g', label: 'To the beginning', run: () => show(0) },
  ])

  return (
    <>
      <Head id={id} head={head} total={total} />
      <div class="reader-bar">
        <Jumps label="Request" numbers={requests} top={top} go={show} />
        <Jumps label="Compaction" numbers={head.compactions} top={top} go={show} />
        <button
          class="quiet-button"
          type="button"
          aria-pressed={isUnfolded}
          onClick={() => setUnfolded(!isUnfolded)}
        >
          {isUnfolded ? 'Fold tools' : 'Unfold tools'}
        </button>
        <span class="number muted" role="status">
          {total === 0 ? '' : `${(top + 1).toLocaleString('en')} of ${total.toLocaleString('en')}`}
        </span>
      </div>
      <div class="reader-columns">
        <UnfoldedContext.Provider value={unfolded.current}>
          {total === 0 ? (
            <Empty title="Nothing was said in it" />
          ) : (
            <VirtualList
              label={`Conversation, ${pluralize(total, 'item')}`}
              count={total}
              estimate={96}
              listKey={id}
              handle={handle}
              isFollowing={wanted === undefined && top > 0}
              onTop={setTop}
              onRange={(from, end) => list.setVisibleRange(from, end)}
              row={(number) => (
                <ItemRow
                  item={list.at(number)}
                  previous={number === 0 ? undefined : list.at(number - 1)}
                  number={number}
                  link={hrefTo.conversation(id, number)}
                  isWanted={number === wanted}
                  isUnfolded={isUnfolded}
                />
              )}
            />
          )}
        </UnfoldedContext.Provider>
        {isWide ? (
          <aside class="reader-aside" aria-label="Requests and compactions">
            <TokenCurveChart conversation={id} />
            <Outline requests={head.requests} compactions={head.compactions} top={top} go={show} />
          </aside>
        ) : null}
      </div>
    </>
  )
}

function Head({
  id,
  head: { line },
  total,
}: {
  id: string
  head: ReaderProps['head']
  total: number
}) {
  return (
    <div class="session-head">
      <nav aria-label="Where this is" class="crumbs">
        <a href={href('/')}>Sessions</a>
        <span aria-hidden="true">/</span>
        {line.session === undefined ? null : (
          <>
            <a href={hrefTo.session(line.session, { tab: 'conversations' })}>Session</a>
            <span aria-hidden="true">/</span>
          </>
        )}
        <span class="mono">
          <Text>{id}</Text>
        </span>
      </nav>
      <h1>
        <Text>{line.title.trim() === '' ? 'Conversation' : line.title}</Text>
      </h1>
      <div class="session-facts">
        <ConversationFacts line={line}>
          <span class="number">{pluralize(total, 'item')}</span>
        </ConversationFacts>
        {line.updatedAt === undefined ? null : (
          <span class="muted">
            <Time at={line.updatedAt} />
          </span>
        )}
      </div>
    </div>
  )
}

export function nextAfter(numbers: readonly number[], top: number): number | undefined {
  return numbers.find((number) => number > top)
}

export function lastBefore(numbers: readonly number[], top: number): number | undefined {
  return numbers.findLast((number) => number < top)
}

function Jumps(props: {
  label: string
  numbers: readonly number[]
  top: number
  go: (number: number | undefined) => void
}) {
  const { label, numbers, top, go } = props
  if (numbers.length === 0) return null
  const passed = numbers.findLastIndex((number) => number <= top) + 1
  const [earlier, later] = [lastBefore(numbers, top), nextAfter(numbers, top)]
  return (
    <div class="jumps" role="group" aria-label={`${label}s`}>
      <button
        type="button"
        data-way="up"
        aria-label={`${label} before`}
        disabled={earlier === undefined}
        onClick={() => go(earlier)}
      />
      <span class="number">
        {passed === 0
          ? pluralize(numbers.length, label.toLowerCase())
          : `${label} ${passed} of ${numbers.length.toLocaleString('en')}`}
      </span>
      <button
        type="button"
        data-way="down"
        aria-label={`Next ${label.toLowerCase()}`}
        disabled={later === undefined}
        onClick={() => go(later)}
      />
    </div>
  )
}

interface OutlineProps {
  requests: ConversationPage['requests']
  compactions: readonly number[]
  top: number
  go: (number: number) => void
}

function Outline({ requests, compactions, top, go }: OutlineProps) {
  const lines = useMemo(
    () =>
      [...requests, ...compactions.map((number) => ({ number, text: undefined }))].toSorted(
        (a, b) => a.number - b.number,
      ),
    [requests, compactions],
  )
  if (lines.length === 0) return null
  const current = lines.findLastIndex(({ number }) => number <= top)
  return (
    <VirtualList
      label={`Outline, ${pluralize(lines.length, 'place')}`}
      count={lines.length}
      estimate={34}
      isFixed
      row={(index) => {
        const line = lines[index]
        if (line === undefined) return null
        return (
          <button
            class="outline-line"
            type="button"
            aria-current={index === current ? 'true' : undefined}
            data-compaction={line.text === undefined}
            onClick={() => go(line.number)}
          >
            {line.text === undefined ? 'Compaction' : <Text>{line.text.slice(0, 200)}</Text>}
          </button>
        )
      }}
    />
  )
}
