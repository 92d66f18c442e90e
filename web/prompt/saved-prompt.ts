// Remembers the last prompt of each session, so that a reloaded page continues to follow it.
import { currentProject } from '../data/router.ts'

export interface SavedPrompt {
  readonly prompt: string
  readonly session: string
  readonly text: string
}

const keyFor = (session: string | undefined): string =>
  `stint-prompt ${currentProject() ?? ''} ${session ?? ''}`

export function savedPrompt(session: string | undefined): SavedPrompt | undefined {
  try {
    const saved: unknown = JSON.parse(localStorage.getItem(keyFor(session)) ?? 'null')
    if (typeof saved !== 'object' || saved === null || !('prompt' in saved) || !('text' in saved))
      return undefined
    return saved as SavedPrompt
  } catch {
    return undefined // local storage is forbidden, or holds something else
  }
}

export function savePrompt(session: string | undefined, saved: SavedPrompt | undefined): void {
  try {
    if (saved === undefined) localStorage.removeItem(keyFor(session))
    else localStorage.setItem(keyFor(session), JSON.stringify(saved))
  } catch {
    // Without local storage the prompt is followed as long as the page is open.
  }
}

/** The choices of the last prompt, offered for the next one. */
export interface PromptDefaults {
  readonly harness?: string
  readonly permissions?: string
}

const HABITS = 'stint-prompt-habits'

export function loadPromptDefaults(): PromptDefaults {
  try {
    const saved: unknown = JSON.parse(localStorage.getItem(HABITS) ?? 'null')
    return typeof saved === 'object' && saved !== null ? saved : {}
  } catch {
    return {} // local storage is forbidden, or holds something else
  }
}

export function savePromptDefaults(now: PromptDefaults): void {
  try {
    localStorage.setItem(HABITS, JSON.stringify(now))
  } catch {
    // Without local storage nothing is remembered.
  }
}
