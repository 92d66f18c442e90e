import type { ComponentChildren } from 'preact'
import { useOpening } from '../../parts/openings.tsx'
import { Text } from '../../parts/text.tsx'

interface FoldProps {
  name: string
  title: string
  /** What it comes to, in a line. */
  summary?: string
  facts?: string
  isBad?: boolean
  isUnfolded: boolean
  children: () => ComponentChildren
}

/** One line that opens. What is inside is made only then. */
export function Fold({
  name,
  title,
  summary = '',
  facts,
  isBad = false,
  isUnfolded,
  children,
}: FoldProps) {
  // Folding all and unfolding all begins anew, whatever was opened before.
  const [open, setOpen] = useOpening(`fold ${isUnfolded} ${name}`, isUnfolded ? 1 : 0)
  return (
    <div class="fold" data-bad={isBad}>
      <button
        class="fold-line"
        type="button"
        aria-expanded={open === 1}
        onClick={() => setOpen(open === 1 ? 0 : 1)}
      >
        <span class="fold-title">
          <Text>{title}</Text>
        </span>
        <span class="fold-summary">
          <Text>{summary}</Text>
        </span>
        {facts === undefined ? null : <span class="fold-facts number">{facts}</span>}
      </button>
      {open === 1 ? <div class="fold-body">{children()}</div> : null}
    </div>
  )
}
