import { onPreCompact } from './on-compact.ts'
import { onNotification } from './on-notification.ts'
import { onPrompt } from './on-prompt.ts'
import { onSessionStart } from './on-session-start.ts'
import { onToolUsed } from './on-tool.ts'
import { onSessionEnd, onStop, onSubagentStop } from './on-turn-end.ts'
import { serve } from './serve.ts'

/** Serves an event of any kind. */
export function serveHook(input: string, env: NodeJS.ProcessEnv): Promise<string> {
  return serve(input, env, {
    sessionStart: onSessionStart,
    userPrompt: onPrompt,
    preCompact: onPreCompact,
    toolUsed: onToolUsed,
    stop: onStop,
    subagentStop: onSubagentStop,
    sessionEnd: onSessionEnd,
    notification: onNotification,
  })
}
