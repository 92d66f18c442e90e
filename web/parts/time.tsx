import { createStore, useStore } from '../data/store.ts'
import { ago, clock, day } from './format.ts'

const minuteNow = createStore(Date.now())
setInterval(() => minuteNow.set(Date.now()), 30_000)

/** How long ago; the whole date is in its title. */
export function Time({ at }: { at: string }) {
  const now = useStore(minuteNow)
  return (
    <time dateTime={at} title={`${day(at)} ${clock(at)}`}>
      {ago(at, now)}
    </time>
  )
}

/** The hour and minute, with the day where that is not today. */
export function Clock({ at }: { at: string }) {
  const now = useStore(minuteNow)
  const isToday = day(at) === day(new Date(now).toISOString())
  return (
    <time dateTime={at} title={`${day(at)} ${clock(at)}`}>
      {isToday ? clock(at) : `${day(at).slice(5)} ${clock(at)}`}
    </time>
  )
}
