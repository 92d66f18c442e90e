import type { HistoryItem, Message } from '../../../src/serve/contract.ts'
import { formatTokens } from '../../components/format.ts'
import { Clock, RequestTokens } from '../../components/values.tsx'
import { Text } from '../../components/text.tsx'
import { FoldableRow, PartView } from './part.tsx'

interface ItemRowProps {
  item: HistoryItem | undefined
  previous: HistoryItem | undefined
  number: number
  link: string
  isWanted: boolean
  isUnfolded: boolean
}

export function ItemRow(props: ItemRowProps) {
  const { item, isWanted } = props
  if (item === undefined)
    return (
      <div class="item" aria-busy="true">
        <span class="skeleton-line" />
      </div>
    )
  if (item.type === 'message') return <MessageRow {...props} message={item} />
  return (
    <div class="mark-line" data-type={item.type} data-wanted={isWanted}>
      <span>
        <Text>{wordsOf(item)}</Text>
      </span>
      {item.at === undefined ? null : (
        <a href={props.link}>
          <Clock at={item.at} />
        </a>
      )}
    </div>
  )
}

function MessageRow({
  message,
  previous,
  number,
  link,
  isWanted,
  isUnfolded,
}: ItemRowProps & { message: Message }) {
  const isResult =
    message.parts.length > 0 && message.parts.every(({ type }) => type === 'tool result')
  const speaker = isResult ? 'tools' : speakerOf(message)
  // One model request often spans several messages, each with the same usage.
  const isSame =
    previous?.type === 'message' &&
    previous.request !== undefined &&
    previous.request === message.request
  const isContinued =
    previous?.type === 'message' &&
    !isResult &&
    speakerOf(previous) === speaker &&
    previous.role === message.role &&
    previous.role === 'assistant'
  const parts = message.parts.map((part, index) => (
    <PartView key={index} part={part} name={`${number} ${index}`} isUnfolded={isUnfolded} />
  ))
  const isFolded =
    message.isMeta === true || message.isSummary === true || message.role === 'system'
  return (
    <article
      class="item"
      data-speaker={speaker}
      data-failure={message.isFailure === true}
      data-wanted={isWanted}
      aria-label={SPEAKERS[speaker]}
    >
      {isResult ? null : (
        <div class="item-head">
          <span class="speaker">
            {isContinued ? null : SPEAKERS[speaker]}
            {message.agent === undefined ? null : (
              <span class="muted">
                {' '}
                · <Text>{message.agent}</Text>
              </span>
            )}
          </span>
          <span class="item-facts">
            {message.usage === undefined || isSame ? null : <RequestTokens usage={message.usage} />}
            <a href={link} title="Link to this message">
              {message.at === undefined ? `#${number}` : <Clock at={message.at} />}
            </a>
          </span>
        </div>
      )}
      <div class="item-parts">
        {isFolded ? (
          <FoldableRow
            name={`${number}`}
            title={
              message.isSummary === true ? 'Summary of what was before' : 'Put there by the harness'
            }
            isUnfolded={isUnfolded}
          >
            {() => parts}
          </FoldableRow>
        ) : (
          parts
        )}
      </div>
    </article>
  )
}

const SPEAKERS = {
  you: 'You',
  model: 'Model',
  harness: 'Harness',
  agent: 'Delegated agent',
  tools: 'Tool results',
} as const

function speakerOf(message: Message): keyof typeof SPEAKERS {
  if (message.agent !== undefined) return 'agent'
  if (message.role === 'assistant') return message.isFailure === true ? 'harness' : 'model'
  return message.role === 'system' || message.isMeta === true || message.isSummary === true
    ? 'harness'
    : 'you'
}

function wordsOf(item: Exclude<HistoryItem, Message>): string {
  switch (item.type) {
    case 'began':
      return [
        'Began',
        item.harness,
        item.model,
        item.cwd,
        item.forkOf === undefined ? undefined : `forked off ${item.forkOf}`,
      ]
        .filter((part) => part !== undefined)
        .join(' · ')
    case 'compaction': {
      const change = [item.tokensBefore, item.tokensAfter]
        .filter((count) => count !== undefined)
        .map(formatTokens)
        .join(' to ')
      return ['Compacted', item.trigger, change === '' ? undefined : `${change} tokens`]
        .filter((part) => part !== undefined)
        .join(' · ')
    }
    case 'taken back':
      return item.from === undefined
        ? 'What was taken back is there again'
        : 'Taken back: the last of what was said above'
    case 'ended':
      return `Ended: ${item.reason}`
  }
}
