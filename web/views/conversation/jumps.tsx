import { amount } from '../../parts/format.ts'

/** The next of some numbers behind where one is. */
export function after(numbers: readonly number[], top: number): number | undefined {
  return numbers.find((number) => number > top)
}

export function before(numbers: readonly number[], top: number): number | undefined {
  return numbers.findLast((number) => number < top)
}

/** From one to the next, and which one is being read. */
export function Jumps(props: {
  label: string
  numbers: readonly number[]
  top: number
  go: (number: number | undefined) => void
}) {
  const { label, numbers, top, go } = props
  if (numbers.length === 0) return null
  const passed = numbers.findLastIndex((number) => number <= top) + 1
  const [earlier, later] = [before(numbers, top), after(numbers, top)]
  return (
    <div class="jumps" role="group" aria-label={`${label}s`}>
      <button
        type="button"
        data-way="up"
        aria-label={`${label} before`}
        disabled={earlier === undefined}
        onClick={() => go(earlier)}
      />
      <span class="number">
        {passed === 0
          ? amount(numbers.length, label.toLowerCase())
          : `${label} ${passed} of ${numbers.length.toLocaleString('en')}`}
      </span>
      <button
        type="button"
        data-way="down"
        aria-label={`Next ${label.toLowerCase()}`}
        disabled={later === undefined}
        onClick={() => go(later)}
      />
    </div>
  )
}
