import { useEffect, useRef, useState } from 'preact/hooks'
import type { ConversationLine } from '../../src/serve/contract.ts'
import { api } from '../data/api.ts'
import { onLive } from '../data/live.ts'
import { usePaged } from '../data/paged.ts'
import { ConversationWords } from '../parts/conversation-line.tsx'
import { amount } from '../parts/format.ts'
import { Empty, Failure, Loading, Stale } from '../parts/states.tsx'
import { type VirtualHandle, VirtualList } from '../parts/virtual-list.tsx'
import { useShortcuts } from '../shell/keyboard.ts'
import { currentProject, go, hrefTo } from '../shell/router.ts'

const ROW_HEIGHT = 64
/** The server reads through each of them, so it is asked for few at once. */
const PIECE = 25
const PAUSE_MS = 1_000

/** All that was said here, in any session and in none. */
export function ConversationsView() {
  const key = `conversations ${currentProject()}`
  const list = usePaged<ConversationLine>(key, (offset, limit, signal) => api.conversations({ offset, limit }, signal), PIECE)
  const [selected, setSelected] = useState(-1)
  const handle = useRef<VirtualHandle>(null)
  const total = list.total ?? 0

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const stop = onLive((event) => {
      if (event.type !== 'conversation' && event.type !== 'reset') return
      // Many come at once when an agent works.
      timer ??= setTimeout(() => {
        timer = undefined
        list.refresh()
      }, PAUSE_MS)
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [list])

  const move = (step: number) => {
    if (total === 0) return
    const next = Math.max(0, Math.min(total - 1, selected + step))
    setSelected(next)
    handle.current?.focus(next)
  }
  useShortcuts('Conversations', [
    { keys: 'j', what: 'Next conversation', run: () => move(1) },
    { keys: 'k', what: 'Conversation before', run: () => move(-1) },
    {
      keys: 'o',
      what: 'Open it',
      run: () => {
        const line = list.at(selected)
        if (line !== undefined) go(hrefTo.conversation(line.id))
      },
    },
  ])

  return (
    <div class="view">
      <div class="view-head">
        <h1>Conversations</h1>
        <span class="aside number" role="status">
          {list.total === undefined ? '' : total.toLocaleString('en')}
        </span>
      </div>
      {list.failure !== undefined && list.total !== undefined ? (
        <Stale failure={list.failure} retry={() => list.refresh()} />
      ) : null}
      {list.total === undefined ? (
        list.failure === undefined ? (
          <Loading lines={12} />
        ) : (
          <Failure failure={list.failure} retry={() => list.refresh()} />
        )
      ) : total === 0 ? (
        <Empty title="No conversations yet">
          They are stored as agents work here. Those from before can be brought in with <code>stint import</code>.
        </Empty>
      ) : (
        <VirtualList
          label={amount(total, 'conversation')}
          count={total}
          estimate={ROW_HEIGHT}
          listKey={key}
          handle={handle}
          onRange={(from, end) => list.want(from, end)}
          row={(number) => <Row line={list.at(number)} isSelected={number === selected} />}
        />
      )}
    </div>
  )
}

function Row({ line, isSelected }: { line: ConversationLine | undefined; isSelected: boolean }) {
  if (line === undefined)
    return (
      <div class="line" aria-busy="true">
        <span class="skeleton-line" />
      </div>
    )
  return (
    <div class="conversation-row" data-selected={isSelected}>
      <ConversationWords line={line} isWithSession />
    </div>
  )
}
