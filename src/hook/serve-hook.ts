import { type FastResponses, serveFast } from './fast.ts'
import { onNotification } from './notification.ts'
import { onPreCompact, preCompactFast } from './pre-compact.ts'
import { onPrompt, promptFast } from './prompt.ts'
import { type Handlers, serve } from './serve.ts'
import { onSessionStart, sessionStartFast } from './session-start.ts'
import { onToolUsed, toolUsedFast } from './tool-use.ts'
import {
  onSessionEnd,
  onStop,
  onSubagentStop,
  sessionEndFast,
  stopFast,
  subagentStopFast,
} from './turn-end.ts'

const FAST: FastResponses = {
  sessionStart: sessionStartFast,
  userPrompt: promptFast,
  preCompact: preCompactFast,
  toolUsed: toolUsedFast,
  stop: stopFast,
  subagentStop: subagentStopFast,
  sessionEnd: sessionEndFast,
}

const HANDLERS: Handlers = {
  sessionStart: onSessionStart,
  userPrompt: onPrompt,
  preCompact: onPreCompact,
  toolUsed: onToolUsed,
  stop: onStop,
  subagentStop: onSubagentStop,
  sessionEnd: onSessionEnd,
  notification: onNotification,
}

/** Serves an event of any kind. */
export async function serveHook(input: string, env: NodeJS.ProcessEnv): Promise<string> {
  return serveWithoutHandler(input, env) ?? serve(input, env, HANDLERS)
}

/** What to print where no handler is needed. */
export function serveWithoutHandler(input: string, env: NodeJS.ProcessEnv): string | undefined {
  return serveFast(input, env, FAST)
}
