import type { Deed, Standing } from './orders.ts'

/** One session, kept in one way or another. */
export interface Store {
  /** Begins the session with tasks of its own, and one whose checklist all share. */
  make(tasks: readonly string[], items: readonly string[]): Promise<void>
  /** Opens it, so that recording can begin at once. */
  open(): Promise<void>
  /** Returns once it is acknowledged, and throws when it is refused. */
  record(deed: Deed): Promise<void>
  /** The same of several discoveries in one write. */
  pour(texts: readonly string[]): Promise<void>
  standing(): Promise<Standing>
  close(): void
}

export const SESSION = 'measured'
/** The task whose checklist all share. */
export const SHARED = 'shared'

/** Longer than anything that is acknowledged: what only fills a file. */
const FILLING = 5000

export function countOne(counts: Record<string, number>, text: string): void {
  if (text.length < FILLING) counts[text] = (counts[text] ?? 0) + 1
}
