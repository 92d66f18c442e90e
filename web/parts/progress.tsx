/** So many of so many, as a bar and in numbers. */
export function Progress({ done, total }: { done: number; total: number }) {
  if (total === 0) return null
  return (
    <span class="progress" title={`${done} of ${total} steps done`}>
      <progress max={total} value={done} aria-label="Steps done" />
      <span class="number">
        {done}/{total}
      </span>
    </span>
  )
}
