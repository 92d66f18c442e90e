// A handoff says what can be checked together with whether it was: a claim that nobody looked into travels on as if it
// were known.
import { defined } from '../../../text/defined.ts'

export type Verdict =
  | { readonly isVerified: true; readonly probe: string; readonly commit?: string }
  | { readonly isVerified: false; readonly why: string }

/** Something that can be looked up, and what came of looking. */
export interface Claim {
  readonly says: string
  readonly verdict: Verdict
}

/** A probe looked, and it is so. */
export function verified(probe: string, commit?: string): Verdict {
  return { isVerified: true, probe, ...defined({ commit }) }
}

/** It is not so, or nobody can know. */
export function unverified(why: string): Verdict {
  return { isVerified: false, why }
}

/** What could not be asked is never taken for true. */
export function couldNotBeChecked(reason: string): Verdict {
  return unverified(`could not be checked: ${reason}`)
}

/** `verified (HEAD, abc1234)`, `unverified (main is checked out)` */
export function tagOf(verdict: Verdict): string {
  if (!verdict.isVerified) return `unverified (${verdict.why})`
  return `verified (${verdict.commit === undefined ? verdict.probe : `${verdict.probe}, ${shortCommit(verdict.commit)}`})`
}

export function shortCommit(commit: string): string {
  return commit.slice(0, 7)
}
