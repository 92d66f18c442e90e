import { useEffect, useState } from 'preact/hooks'

/** A value with change listeners. */
export interface Store<T> {
  get(): T
  set(value: T): void
  subscribe(listener: (value: T) => void): () => void
}

export function createStore<T>(initial: T): Store<T> {
  let current = initial
  const listeners = new Set<(value: T) => void>()
  return {
    get: () => current,
    set(value) {
      if (Object.is(value, current)) return
      current = value
      for (const listener of listeners) listener(value)
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

export function useStore<T>(store: Store<T>): T {
  const [value, setValue] = useState<T>(() => store.get())
  useEffect(() => {
    // It may have changed between rendering and here.
    setValue(() => store.get())
    return store.subscribe((next) => setValue(() => next))
  }, [store])
  return value
}
