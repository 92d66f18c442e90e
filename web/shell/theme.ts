import { createStore } from '../data/store.ts'

export type Theme = 'system' | 'light' | 'dark'

const KEY = 'stint-theme'

export const theme = createStore<Theme>(savedTheme())

export function nextTheme(): void {
  const order: readonly Theme[] = ['system', 'light', 'dark']
  theme.set(order[(order.indexOf(theme.get()) + 1) % order.length]!)
}

export function applyTheme(): void {
  const apply = (value: Theme) => {
    if (value === 'system') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = value
  }
  apply(theme.get())
  theme.subscribe((value) => {
    apply(value)
    try {
      localStorage.setItem(KEY, value)
    } catch {
      // Without local storage the choice lasts for this page only.
    }
  })
}

function savedTheme(): Theme {
  try {
    const value = localStorage.getItem(KEY)
    return value === 'light' || value === 'dark' ? value : 'system'
  } catch {
    return 'system' // local storage is forbidden
  }
}
