import type { ComponentChildren } from 'preact'
import { formatBytes } from './format.ts'
import { useUnfolded } from './unfolded.tsx'

const CHUNK = 40_000

/** Shows the start of a long text and more on request, in chunks that a browser can lay out quickly. */
export function Clip(props: {
  name: string
  text: string
  limit?: number
  lines?: number
  children: (text: string) => ComponentChildren
}) {
  const { name, text, limit = 2000, lines = 24, children } = props
  const [chunks, setChunks] = useUnfolded(`clip ${name}`)
  const end =
    chunks === 0 ? clipLength(text, limit, lines) : Math.min(text.length, limit + chunks * CHUNK)
  return (
    <>
      {children(end === text.length ? text : text.slice(0, end))}
      {end === text.length ? null : (
        <button class="link-button small" type="button" onClick={() => setChunks(chunks + 1)}>
          Show more ({formatBytes(text.length - end)} left)
        </button>
      )}
    </>
  )
}

function clipLength(text: string, limit: number, lines: number): number {
  let at = -1
  for (let line = 0; line < lines; line += 1) {
    at = text.indexOf('\n', at + 1)
    if (at === -1 || at > limit)
      return text.length <= limit * 1.2 && at === -1 ? text.length : Math.min(text.length, limit)
  }
  // A few more lines are shown rather than hidden behind a button.
  return text.length - at < 200 ? text.length : at
}
