import { onToolUsed } from '../../hook/tool-use.ts'
import { serveWithHandlers } from '../../hook/serve-hook.ts'

export { writeStdout } from '../../journal/files.ts'

export const serveEvent = (input: string) =>
  serveWithHandlers(input, process.env, { toolUsed: onToolUsed })
