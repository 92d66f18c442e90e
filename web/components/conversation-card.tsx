import type { PricedConversation } from '../../src/serve/contract.ts'
import { hrefTo } from '../data/router.ts'
import { Badge, SpendLabel, Time } from './values.tsx'
import { formatBytes, pluralize } from './format.ts'
import { Text } from './text.tsx'

export function ConversationCard({
  line,
  isWithSession = false,
}: {
  line: PricedConversation
  isWithSession?: boolean
}) {
  const title = line.title.trim() === '' ? line.id : line.title
  return (
    <div class="line">
      <div class="line-title">
        {line.isStored ? (
          <a href={hrefTo.conversation(line.id)}>
            <Text>{title}</Text>
          </a>
        ) : (
          <Text>{title}</Text>
        )}
        {line.isStored ? null : <Badge>not stored here</Badge>}
      </div>
      <div class="line-facts">
        <span>
          <Text>{line.harness}</Text>
        </span>
        {line.model === undefined ? null : (
          <span class="mono">
            <Text>{line.model}</Text>
          </span>
        )}
        <span class="number">{pluralize(line.messages, 'message')}</span>
        {line.compactions > 0 ? (
          <span class="number">{pluralize(line.compactions, 'compaction')}</span>
        ) : null}
        {line.bytes > 0 ? <span class="number">{formatBytes(line.bytes)}</span> : null}
        <SpendLabel spend={line.spend} />
        {line.endedBecause === undefined ? null : (
          <span>
            ended: <Text>{line.endedBecause}</Text>
          </span>
        )}
        {isWithSession && line.session !== undefined ? (
          <a href={hrefTo.session(line.session)}>its session</a>
        ) : null}
        {line.updatedAt === undefined ? null : <Time at={line.updatedAt} />}
      </div>
    </div>
  )
}
