export interface DayBar {
  readonly day: string
  /** One for each series. A negative bar hangs below zero and is red. */
  readonly values: readonly number[]
  /** Describes its bars for screen readers. */
  readonly text: string
}

export interface DayBarsProps {
  readonly days: readonly DayBar[]
  /** Formats a value of the scale. */
  readonly show: (value: number) => string
  readonly tones?: readonly ('accent' | 'good')[]
}

export function DayBars({ days, show, tones = ['accent'] }: DayBarsProps) {
  const all = days.flatMap(({ values }) => values)
  const [most, least] = [Math.max(...all, 0), Math.min(...all, 0)]
  const share = (value: number): string =>
    most === least ? '0' : `${(value / (most - least)) * 100}%`
  // With negative bars, the zero line matters more than the middle.
  const middle = least < 0 ? 0 : most / 2
  // Few enough labels that they do not overlap.
  const step = Math.max(1, Math.ceil(days.length / 8))
  return (
    <div class="bars">
      <div class="bars-scale" aria-hidden="true">
        {[most, middle, least].filter(isFarFrom(middle, (most - least) / 10)).map((height) => (
          <span key={height} style={{ bottom: share(height - least) }}>
            {show(height)}
          </span>
        ))}
      </div>
      <ol class="bars-days" style={{ '--zero': share(-least), '--middle': share(middle - least) }}>
        {days.map(({ day, values, text }, index) => (
          <li key={day} title={text}>
            {values.map((value, series) => (
              <span key={series} class="bar-slot">
                <span
                  class="bar"
                  style={{
                    bottom: share(Math.min(value, 0) - least),
                    height: share(Math.abs(value)),
                  }}
                  data-tone={value < 0 ? 'bad' : tones[series]}
                  data-empty={value === 0}
                />
              </span>
            ))}
            <span class="unseen-text">{text}</span>
            {(days.length - 1 - index) % step === 0 ? (
              <span class="bar-day" aria-hidden="true">
                {day.slice(5)}
              </span>
            ) : null}
          </li>
        ))}
      </ol>
    </div>
  )
}

/** Leaves out labels that would overlap the middle one. */
function isFarFrom(middle: number, far: number): (height: number) => boolean {
  return (height) => height === middle || Math.abs(height - middle) > far
}
