export interface DayBar {
  readonly day: string
  /** One for each series. Below zero a bar hangs, and is red. */
  readonly values: readonly number[]
  /** What its bars stand for: they are read without being seen, too. */
  readonly text: string
}

export interface DayBarsProps {
  readonly days: readonly DayBar[]
  /** How a height of the scale is written. */
  readonly show: (value: number) => string
  readonly tones?: readonly ('accent' | 'good')[]
}

/** Bars for each day, beside each other where there are several. */
export function DayBars({ days, show, tones = ['accent'] }: DayBarsProps) {
  const all = days.flatMap(({ values }) => values)
  const [most, least] = [Math.max(...all, 0), Math.min(...all, 0)]
  const share = (value: number): string =>
    most === least ? '0' : `${(value / (most - least)) * 100}%`
  // Where bars hang, their beginning is worth a line more than the middle is.
  const middle = least < 0 ? 0 : most / 2
  // So many that their names do not run into each other.
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

/** What would be written over the middle is left out. */
function isFarFrom(middle: number, far: number): (height: number) => boolean {
  return (height) => height === middle || Math.abs(height - middle) > far
}
