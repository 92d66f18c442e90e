import { useEffect, useRef, useState } from 'preact/hooks'
import type { LiveEvent } from '../../src/serve/contract.ts'
import { type ApiFailure, asFailure } from './failure.ts'
import { onLive, whenLive } from './live.ts'
import { defined } from '../../src/text/defined.ts'

/** While it is loaded again, the old value stays. */
export interface Resource<T> {
  readonly value?: T
  readonly failure?: ApiFailure
  readonly isLoading: boolean
  reload(): void
}

const PAUSE_MS = 150

/**
 * Loads when `key` changes, on `reset`, and when an event touches it: at once, then at most every `pauseMs`. An event during a request
 * causes another one, because the response may be older than the event.
 */
export function useResource<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  isTouchedBy: (event: LiveEvent) => boolean = () => false,
  pauseMs = PAUSE_MS,
): Resource<T> {
  const [state, setState] = useState<{
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
  const loadNow = useRef<() => void>(() => undefined)

  useEffect(() => {
    const ended = new AbortController()
    let isLoadingNow = false
    let isStale = false
    const go = async () => {
      if (isLoadingNow) {
        isStale = true
        return
      }
      isLoadingNow = true
      setState((old) => (old.key === key ? { ...old, isLoading: true } : { key, isLoading: true }))
      await whenLive()
      do {
        isStale = false
        try {
          const value = await latest.current.load(ended.signal)
          if (ended.signal.aborted) return
          setState({ key, value, isLoading: isStale })
        } catch (error) {
          if (ended.signal.aborted) return
          const failure = asFailure(error)
          setState((old) => ({
            key,
            ...(old.value === undefined || old.key !== key ? {} : { value: old.value }),
            failure,
            isLoading: isStale,
          }))
        }
        await new Promise((resolve) => setTimeout(resolve, pauseMs))
      } while (isStale && !ended.signal.aborted)
      isLoadingNow = false
    }
    loadNow.current = () => void go()
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
    state.key === key ? state : { value: undefined, failure: undefined, isLoading: true }
  return {
    ...defined({ value, failure }),
    isLoading,
    reload: () => loadNow.current(),
  }
}
