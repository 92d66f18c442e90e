// All handlers in one program: each would be large by itself, and they share nearly all of it.
import { onNotification } from '../../hook/notification.ts'
import { onPreCompact } from '../../hook/pre-compact.ts'
import { onPrompt, recordPrompt } from '../../hook/prompt.ts'
import { serveWithHandlers } from '../../hook/serve-hook.ts'
import { onSessionStart } from '../../hook/session-start.ts'
import { statusLine } from '../../hook/status-line.ts'
import { onToolUsed, recordEditUnread } from '../../hook/tool-use.ts'
import { onStop, onSubagentStop, recordAgent, recordStopUnread } from '../../hook/turn-end.ts'

export { writeStdout } from '../../journal/write-files.ts'

export function serveEvent(input: string, name: string): Promise<string> {
  if (name === 'statusline') return statusLine(input, process.env, new Date().toISOString())
  return serveWithHandlers(
    input,
    process.env,
    {
      sessionStart: onSessionStart,
      preCompact: onPreCompact,
      userPrompt: onPrompt,
      toolUsed: onToolUsed,
      stop: onStop,
      subagentStop: onSubagentStop,
      notification: onNotification,
    },
    {
      userPrompt: recordPrompt,
      toolUsed: recordEditUnread,
      stop: recordStopUnread,
      subagentStop: recordAgent,
    },
  )
}
