import { onSessionEnd, onStop, onSubagentStop } from '../../hook/turn-end.ts'
import { serve } from '../../hook/serve.ts'

export { writeOut } from '../../journal/files.ts'

export const serveEvent = (input: string) =>
  serve(input, process.env, {
    stop: onStop,
    subagentStop: onSubagentStop,
    sessionEnd: onSessionEnd,
  })
