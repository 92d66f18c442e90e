import type { PricedConversation } from '../../src/serve/contract.ts'
import { api } from '../data/api.ts'
import { ConversationCard } from '../components/conversation-card.tsx'
import { LongListHead, LongListRows, useLongList } from '../lists/long-list.tsx'
import { Empty } from '../components/states.tsx'
import { currentProject, hrefTo } from '../data/router.ts'

const ROW_HEIGHT = 64
/** The server reads each conversation, so few are requested at once, and not often. */
const PAGE_SIZE = 25
const PAUSE_MS = 1_000

export function ConversationsView() {
  const list = useLongList<PricedConversation>({
    title: 'Conversations',
    one: 'conversation',
    key: `conversations ${currentProject()}`,
    load: (offset, limit, signal) => api.conversations({ offset, limit }, signal),
    pageSize: PAGE_SIZE,
    isTouchedBy: ({ type }) => type === 'conversation',
    pauseMs: PAUSE_MS,
    addressOf: ({ id }) => hrefTo.conversation(id),
  })
  return (
    <div class="view">
      <LongListHead list={list} />
      <LongListRows
        list={list}
        height={ROW_HEIGHT}
        row={(line, isSelected) => <Row line={line} isSelected={isSelected} />}
        none={
          <Empty title="No conversations yet">
            They are stored as agents work here. Those from before can be brought in with{' '}
            <code>stint import</code>.
          </Empty>
        }
      />
    </div>
  )
}

function Row({ line, isSelected }: { line: PricedConversation | undefined; isSelected: boolean }) {
  if (line === undefined)
    return (
      <div class="line" aria-busy="true">
        <span class="skeleton-line" />
      </div>
    )
  return (
    <div class="conversation-row" data-selected={isSelected}>
      <ConversationCard line={line} isWithSession />
    </div>
  )
}
