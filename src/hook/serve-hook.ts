import { onPreCompact } from './on-compact.ts'
import { onNotification } from './on-notification.ts'
import { onPrompt } from './on-prompt.ts'
import { onSessionStart } from './on-session-start.ts'
import { onToolUsed } from './on-tool.ts'
import { onSessionEnd, onStop, onSubagentStop } from './on-turn-end.ts'
import { preCompactQuickly } from './quick/at-compact.ts'
import { promptQuickly } from './quick/at-prompt.ts'
import { startQuickly } from './quick/at-start.ts'
import { sessionEndQuickly, stopQuickly, subagentStopQuickly } from './quick/at-turn-end.ts'
import { type Ways, serveQuickly } from './quick/serve-quickly.ts'
import { serve } from './serve.ts'
import { eventIn } from './event-in.ts'
import { isNothingNew } from './settled.ts'

const QUICKLY: Ways = {
  sessionStart: startQuickly,
  userPrompt: promptQuickly,
  preCompact: preCompactQuickly,
  stop: stopQuickly,
  subagentStop: subagentStopQuickly,
  sessionEnd: sessionEndQuickly,
}

/** Serves an event of any kind. */
export async function serveHook(input: string, env: NodeJS.ProcessEnv): Promise<string> {
  if (eventIn(input) === 'PostToolUse' && isNothingNew(input, env)) return ''
  return serveQuickly(input, env, QUICKLY) ?? serveInFull(input, env)
}

function serveInFull(input: string, env: NodeJS.ProcessEnv): Promise<string> {
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
