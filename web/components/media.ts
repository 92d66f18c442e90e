import { useEffect, useState } from 'preact/hooks'

export function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches)
  useEffect(() => {
    const list = matchMedia(query)
    const listen = () => setMatches(list.matches)
    listen()
    list.addEventListener('change', listen)
    return () => list.removeEventListener('change', listen)
  }, [query])
  return matches
}

/** There is room for a side column. */
export const useIsWide = () => useMedia('(min-width: 1120px)')
