import { onStop, onSubagentStop, recordAgent, recordStopUnread } from '../../hook/turn-end.ts'
import { onNotification } from '../../hook/notification.ts'
import { serveWithHandlers } from '../../hook/serve-hook.ts'

export { writeStdout } from '../../journal/write-files.ts'

export const serveEvent = (input: string) =>
  serveWithHandlers(
    input,
    process.env,
    { stop: onStop, subagentStop: onSubagentStop, notification: onNotification },
    { stop: recordStopUnread, subagentStop: recordAgent },
  )
