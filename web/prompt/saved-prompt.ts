// Which prompt was asked last, where: so that a page that is loaded again, or come back to, goes on with it.
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
    const kept: unknown = JSON.parse(localStorage.getItem(keyFor(session)) ?? 'null')
    if (typeof kept !== 'object' || kept === null || !('prompt' in kept) || !('text' in kept))
      return undefined
    return kept as SavedPrompt
  } catch {
    return undefined // nothing may be kept here, or another wrote there
  }
}

export function savePrompt(session: string | undefined, kept: SavedPrompt | undefined): void {
  try {
    if (kept === undefined) localStorage.removeItem(keyFor(session))
    else localStorage.setItem(keyFor(session), JSON.stringify(kept))
  } catch {
    // A browser that keeps nothing follows the prompt as long as the page is open.
  }
}

/** How somebody asked last: the next prompt begins like it. */
export interface PromptDefaults {
  readonly harness?: string
  readonly permissions?: string
}

const HABITS = 'stint-prompt-habits'

export function loadPromptDefaults(): PromptDefaults {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(HABITS) ?? 'null')
    return typeof kept === 'object' && kept !== null ? kept : {}
  } catch {
    return {} // as above
  }
}

export function savePromptDefaults(now: PromptDefaults): void {
  try {
    localStorage.setItem(HABITS, JSON.stringify(now))
  } catch {
    // As above.
  }
}
