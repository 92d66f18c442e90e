import type { Saving } from '../../../src/serve/contract.ts'

/** The server looks at every session for it. */
export const LEDGER_PAUSE_MS = 2_000

export function avoidedIn(savings: readonly Saving[]): number {
  return savings.reduce((sum, { tokens }) => sum + tokens, 0)
}
