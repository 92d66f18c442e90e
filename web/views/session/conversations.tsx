import type { ConversationLine } from '../../../src/serve/contract.ts'
import { Badge } from '../../parts/badge.tsx'
import { amount, bytes } from '../../parts/format.ts'
import { Spent } from '../../parts/spent.tsx'
import { Empty } from '../../parts/states.tsx'
import { Text } from '../../parts/text.tsx'
import { Time } from '../../parts/time.tsx'
import { hrefTo } from '../../shell/router.ts'

export function Conversations({ lines }: { lines: readonly ConversationLine[] }) {
  if (lines.length === 0)
    return (
      <Empty title="No conversations yet">
        They are stored as agents work here. Those from before can be brought in with <code>stint import</code>.
      </Empty>
    )
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="Conversations">
      <ul class="lines">
        {lines.map((line) => (
          <li key={line.id}>
            <Line line={line} />
          </li>
        ))}
      </ul>
    </div>
  )
}

function Line({ line }: { line: ConversationLine }) {
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
        <span class="number">{amount(line.messages, 'message')}</span>
        {line.compactions > 0 ? <span class="number">{amount(line.compactions, 'compaction')}</span> : null}
        {line.bytes > 0 ? <span class="number">{bytes(line.bytes)}</span> : null}
        <Spent spend={line.spend} />
        {line.endedBecause === undefined ? null : (
          <span>
            ended: <Text>{line.endedBecause}</Text>
          </span>
        )}
        {line.updatedAt === undefined ? null : <Time at={line.updatedAt} />}
      </div>
    </div>
  )
}
