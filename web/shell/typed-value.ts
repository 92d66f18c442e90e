import { useEffect, useRef, useState } from 'preact/hooks'
import { setQuery } from '../data/router.ts'

const TYPING_MS = 250

/**
 * What stands in a field whose value is part of the address. It goes there when somebody stops typing, and comes from there when the
 * address was changed by something else: what is being typed is never replaced by what was typed before.
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
