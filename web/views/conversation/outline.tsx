import { useMemo } from 'preact/hooks'
import type { ConversationPage } from '../../../src/serve/contract.ts'
import { amount } from '../../parts/format.ts'
import { Text } from '../../parts/text.tsx'
import { VirtualList } from '../../lists/virtual-list.tsx'

interface OutlineProps {
  requests: ConversationPage['requests']
  compactions: readonly number[]
  top: number
  go: (number: number) => void
}

/** What was asked, and where it was compacted in between, in order. */
export function Outline({ requests, compactions, top, go }: OutlineProps) {
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
      label={`Outline, ${amount(lines.length, 'place')}`}
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
