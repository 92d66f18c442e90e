import type { ConversationLine } from '../../../src/serve/contract.ts'
import { ConversationWords } from '../../parts/conversation-line.tsx'
import { Empty } from '../../parts/states.tsx'

export function Conversations({ lines }: { lines: readonly ConversationLine[] }) {
  if (lines.length === 0)
    return (
      <Empty title="No conversations yet">
        They are stored as agents work here. Those from before can be brought in with{' '}
        <code>stint import</code>.
      </Empty>
    )
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="Conversations">
      <ul class="lines">
        {lines.map((line) => (
          <li key={line.id}>
            <ConversationWords line={line} />
          </li>
        ))}
      </ul>
    </div>
  )
}
