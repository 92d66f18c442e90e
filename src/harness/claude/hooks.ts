import { defined } from '../../text/defined.ts'
import type { HarnessHooks, HookResponse } from '../contract/hooks.ts'
import { readEvent } from './events.ts'
import { readStatusInput } from './status-input.ts'
import { factsOf } from './tool-facts.ts'
import { lookAtPiece } from './transcript.ts'
import { transcriptOf, usualTranscript } from './transcript-path.ts'
import { readUsageTail } from './usage-tail.ts'
import { sumUp } from './usage-totals.ts'

export const claudeHooks: HarnessHooks = {
  readEvent,
  printResponse,
  toolFacts: factsOf,
  readStatus: readStatusInput,
  transcript: {
    path: usualTranscript,
    find: transcriptOf,
    inspect: lookAtPiece,
    usageTail: readUsageTail,
    sumUp,
  },
  variables: {
    startFolder: 'CLAUDE_PROJECT_DIR',
    shellFile: 'CLAUDE_ENV_FILE',
    process: 'CLAUDE_PID',
    conversation: 'CLAUDE_CODE_SESSION_ID',
  },
}

function printResponse(event: string, { person, model, plain }: HookResponse): string {
  if (plain !== undefined) return plain
  if (person === undefined && model === undefined) return ''
  return JSON.stringify({
    ...defined({ systemMessage: person }),
    ...(model === undefined
      ? {}
      : { hookSpecificOutput: { hookEventName: event, additionalContext: model } }),
  })
}
