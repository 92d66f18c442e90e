import { createContext } from 'preact'
import { useContext, useState } from 'preact/hooks'

/** What the user unfolded in a list, by name. It survives when a row is unmounted and comes back. */
export const UnfoldedContext = createContext<Map<string, number>>(new Map())

/** How far an item is unfolded, from 0. */
export function useUnfolded(name: string, initial = 0): readonly [number, (value: number) => void] {
  const all = useContext(UnfoldedContext)
  const [, rerender] = useState(0)
  return [
    all.get(name) ?? initial,
    (value) => {
      all.set(name, value)
      rerender((turn) => turn + 1)
    },
  ]
}
