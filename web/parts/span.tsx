import { setValues, useValues } from '../data/router.ts'

const SPANS = [7, 30, 90] as const
const USUAL = 30

/** How many days are looked at, as the address says. */
export function useSpan(): number {
  const asked = useValues().get('days')
  return SPANS.find((one) => String(one) === asked) ?? USUAL
}

export function SpanChoice({ span }: { span: number }) {
  return (
    <div class="segments" role="group" aria-label="How many days">
      {SPANS.map((one) => (
        <button
          key={one}
          type="button"
          aria-pressed={one === span}
          onClick={() => setValues({ days: one === USUAL ? undefined : String(one) })}
        >
          {one} days
        </button>
      ))}
    </div>
  )
}
