import { shortenToCost } from '../cost.ts'
import { safeLine } from '../../text/safe-text.ts'
import { type Verdict, tagOf } from './probes/claim.ts'

const LONGEST = 40
const SHORTEST = 20

/** A tag as the document shows it. It names branches, paths and what git said, which are text as everything else. */
export function shownTag(verdict: Verdict, isShort = false): string {
  return shortenToCost(safeLine(tagOf(verdict)), isShort ? SHORTEST : LONGEST)
}
