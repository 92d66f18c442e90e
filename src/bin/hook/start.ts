import { onPreCompact } from '../../hook/pre-compact.ts'
import { onSessionStart } from '../../hook/session-start.ts'
import { serveWithHandlers } from '../../hook/serve-hook.ts'

export { writeStdout } from '../../journal/write-files.ts'

export const serveEvent = (input: string) =>
  serveWithHandlers(input, process.env, { sessionStart: onSessionStart, preCompact: onPreCompact })
