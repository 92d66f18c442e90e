import type { HarnessHooks } from '../contract/hooks.ts'
import { claudeProtocol } from './hook-protocol.ts'
import { readStatusInput } from './status-input.ts'
import { lookAtPiece } from './transcript.ts'
import { transcriptOf, usualTranscript } from './transcript-path.ts'
import { readUsageTail } from './usage-tail.ts'
import { sumUp } from './usage-totals.ts'

export const claudeHooks: HarnessHooks = {
  ...claudeProtocol,
  readStatus: readStatusInput,
  transcript: {
    path: usualTranscript,
    find: transcriptOf,
    inspect: lookAtPiece,
    usageTail: readUsageTail,
    sumUp,
  },
}
