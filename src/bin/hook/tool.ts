import { onToolUsed, recordEditUnread } from '../../hook/tool-use.ts'
import { serveWithHandlers } from '../../hook/serve-hook.ts'

export { writeStdout } from '../../journal/write-files.ts'

export const serveEvent = (input: string) =>
  serveWithHandlers(input, process.env, { toolUsed: onToolUsed }, { toolUsed: recordEditUnread })
