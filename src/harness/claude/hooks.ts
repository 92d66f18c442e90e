import type { HarnessHooks } from '../contract/hooks.ts'
import { claudeProtocol } from './hooks/protocol.ts'
import { readStatusInput } from './hooks/status-input.ts'
import { lookAtPiece, readUsageTail } from './transcript/transcript.ts'
import { transcriptOf, usualTranscript } from './transcript/transcript-path.ts'
import { sumUp } from './transcript/usage-totals.ts'

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
