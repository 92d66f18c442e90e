import { useEffect, useRef, useState } from 'preact/hooks'
import { setQuery } from '../data/router.ts'

const TYPING_MS = 250

/**
 * A field whose value is part of the URL. It is written there when the user stops typing, and read from there when the URL changes
 * otherwise: typed text is never replaced by an earlier value.
 */
export function useTypedValue(
  name: string,
  value: string,
): readonly [string, (typed: string) => void] {
  const [typed, setTyped] = useState(value)
  const known = useRef(value)
  if (known.current !== value) {
    known.current = value
    setTyped(value)
  }
  useEffect(() => {
    if (typed === known.current) return undefined
    const timer = setTimeout(() => {
      known.current = typed
      setQuery({ [name]: typed })
    }, TYPING_MS)
    return () => clearTimeout(timer)
  }, [typed])
  return [typed, setTyped]
}
