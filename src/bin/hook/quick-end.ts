import {
  sessionEndQuickly,
  stopQuickly,
  subagentStopQuickly,
} from '../../hook/quick/at-turn-end.ts'
import { serveQuickly } from '../../hook/quick/serve-quickly.ts'

export { writeOut } from '../../journal/files.ts'

export const serveEvent = (input: string) =>
  serveQuickly(input, process.env, {
    stop: stopQuickly,
    subagentStop: subagentStopQuickly,
    sessionEnd: sessionEndQuickly,
  })
