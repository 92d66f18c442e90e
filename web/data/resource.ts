import { useEffect, useRef, useState } from 'preact/hooks'
import type { LiveEvent } from '../../src/serve/contract.ts'
import { type ApiFailure, asFailure } from './failure.ts'
import { whenLive, onLive } from './live.ts'
import { defined } from '../../src/text/defined.ts'

export { asFailure } from './failure.ts'

/** Something asked of the server. While it is asked again the former answer stays. */
export interface Resource<T> {
  readonly value?: T
  readonly failure?: ApiFailure
  readonly isLoading: boolean
  reload(): void
}

const PAUSE_MS = 150

/**
 * Asks when `key` changes, when the server says `reset`, and when an event touches it: at once, and then not more often than every few
 * moments, or as seldom as `pauseMs` says of what is dear to answer. An event during a question leads to another, because its answer may be from before.
 */
export function useResource<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  isTouchedBy: (event: LiveEvent) => boolean = () => false,
  pauseMs = PAUSE_MS,
): Resource<T> {
  const [answer, setAnswer] = useState<{
    key: string
    value?: T
    failure?: ApiFailure
    isLoading: boolean
  }>({
    key,
    isLoading: true,
  })
  const latest = useRef({ load, isTouchedBy })
  latest.current = { load, isTouchedBy }
  const ask = useRef<() => void>(() => undefined)

  useEffect(() => {
    const ended = new AbortController()
    let isAsking = false
    let isStale = false
    const go = async () => {
      if (isAsking) {
        isStale = true
        return
      }
      isAsking = true
      setAnswer((old) => (old.key === key ? { ...old, isLoading: true } : { key, isLoading: true }))
      await whenLive()
      do {
        isStale = false
        try {
          const value = await latest.current.load(ended.signal)
          if (ended.signal.aborted) return
          setAnswer({ key, value, isLoading: isStale })
        } catch (error) {
          if (ended.signal.aborted) return
          const failure = asFailure(error)
          setAnswer((old) => ({
            key,
            ...(old.value === undefined || old.key !== key ? {} : { value: old.value }),
            failure,
            isLoading: isStale,
          }))
        }
        await new Promise((resolve) => setTimeout(resolve, pauseMs))
      } while (isStale && !ended.signal.aborted)
      isAsking = false
    }
    ask.current = () => void go()
    void go()
    const stop = onLive((event) => {
      if (event.type === 'reset' || latest.current.isTouchedBy(event)) void go()
    })
    return () => {
      stop()
      ended.abort()
    }
  }, [key])

  const { value, failure, isLoading } =
    answer.key === key ? answer : { value: undefined, failure: undefined, isLoading: true }
  return {
    ...defined({ value, failure }),
    isLoading,
    reload: () => ask.current(),
  }
}
