import { useLayoutEffect, useRef } from 'preact/hooks'
import { createStore } from '../data/store.ts'

/** A key or a sequence of two (`g s`). */
export interface Shortcut {
  readonly keys: string
  readonly label: string
  readonly run: () => void
}

export const isHelpOpen = createStore(false)

const groups = new Set<{ readonly title: string; shortcuts: readonly Shortcut[] }>()
const SEQUENCE_MS = 1500
let pending = ''
let pendingAt = 0

/** The active shortcuts, the newest view last. */
export function shortcutGroups(): readonly {
  readonly title: string
  readonly shortcuts: readonly Shortcut[]
}[] {
  return [...groups]
}

export function useShortcuts(title: string, shortcuts: readonly Shortcut[]): void {
  const group = useRef({ title, shortcuts })
  group.current.shortcuts = shortcuts
  // In a layout effect, so that a visible view already has its keys.
  useLayoutEffect(() => {
    const own = group.current
    groups.add(own)
    return () => {
      groups.delete(own)
    }
  }, [])
}

export function listenToKeys(): void {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return
    const { target } = event
    if (event.key === 'Escape' && target instanceof HTMLElement && isTextField(target))
      return target.blur()
    if (
      (target instanceof HTMLElement && isTextField(target)) ||
      document.querySelector('dialog[open]') !== null
    )
      return
    const isFresh = event.timeStamp - pendingAt < SEQUENCE_MS
    const pressed = pending !== '' && isFresh ? `${pending} ${event.key}` : event.key
    pending = ''
    const all = [...groups].toReversed().flatMap(({ shortcuts }) => shortcuts)
    const found = all.find(({ keys }) => keys === pressed)
    if (found !== undefined) {
      event.preventDefault()
      found.run()
    } else if (all.some(({ keys }) => keys.startsWith(`${event.key} `))) {
      pending = event.key
      pendingAt = event.timeStamp
    }
  })
}

function isTextField(element: HTMLElement): boolean {
  return (
    element.isContentEditable || element.matches('input:not([type=checkbox]), textarea, select')
  )
}
