import type { SessionState } from '../session/state.ts'
import { tldrOf } from '../session/tldr.ts'
import { MAX_TOKENS, costOfAll, shortenToCost } from './cost.ts'
import { latelySections } from './lately.ts'
import { LEFT_OUT_ROOM, leftOutLines, leftOutOf } from './left-out.ts'
import { safeLine } from '../text/safe-text.ts'
import { settledSections } from './settled.ts'
import { share } from './share.ts'
import { standingSections } from './standing.ts'
import { MARGIN } from '../text/tokens.ts'

const TLDR_ROOM = 160

/**
 * What the summariser of a conversation is given beside its instructions, so that the summary has these facts.
 * Plain text: to a summariser everything is a text to be told in short, and a fence would be told too.
 */
export function textForSummariser(
  state: SessionState,
  options: { readonly compaction: number },
): string {
  const heading = [
    '💾 Pre-Compaction Checkpoint',
    `Session: ${shortenToCost(safeLine(state.name), 40)}`,
    `Compaction: #${options.compaction}`,
    '',
    '## TL;DR',
    shortenToCost(safeLine(tldrOf(state)), TLDR_ROOM),
    '',
    "## From the session's journal, to be kept in the summary",
  ]
  const [, ...standing] = standingSections(state)
  const [, ...settled] = settledSections(state)
  const room = MAX_TOKENS - MARGIN - LEFT_OUT_ROOM - costOfAll(heading)
  const fitted = share([...standing, ...settled, ...latelySections(state)], room)
  return [
    ...heading,
    ...fitted.flatMap(({ lines }) => lines),
    ...leftOutLines(leftOutOf(fitted)),
  ].join('\n')
}
