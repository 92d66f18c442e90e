import { onPreCompact } from '../../hook/pre-compact.ts'
import { onSessionStart } from '../../hook/session-start.ts'
import { serve } from '../../hook/serve.ts'

export { writeOut } from '../../journal/files.ts'

export const serveEvent = (input: string) =>
  serve(input, process.env, { sessionStart: onSessionStart, preCompact: onPreCompact })
