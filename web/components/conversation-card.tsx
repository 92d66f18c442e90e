import type { ComponentChildren } from 'preact'
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
        <ConversationFacts line={line}>
          <span class="number">{pluralize(line.messages, 'message')}</span>
          {line.compactions > 0 ? (
            <span class="number">{pluralize(line.compactions, 'compaction')}</span>
          ) : null}
        </ConversationFacts>
        {isWithSession && line.session !== undefined ? (
          <a href={hrefTo.session(line.session)}>its session</a>
        ) : null}
        {line.updatedAt === undefined ? null : <Time at={line.updatedAt} />}
      </div>
    </div>
  )
}

export function ConversationFacts({
  line: { harness, model, bytes, spend, endedBecause },
  children,
}: {
  line: PricedConversation
  children: ComponentChildren
}) {
  return (
    <>
      <span>
        <Text>{harness}</Text>
      </span>
      {model === undefined ? null : (
        <span class="mono">
          <Text>{model}</Text>
        </span>
      )}
      {children}
      {bytes > 0 ? <span class="number">{formatBytes(bytes)}</span> : null}
      <SpendLabel spend={spend} />
      {endedBecause === undefined ? null : (
        <span>
          ended: <Text>{endedBecause}</Text>
        </span>
      )}
    </>
  )
}
