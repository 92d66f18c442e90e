import { serveFast } from '../../hook/fast.ts'
import { sessionEndFast, stopFast, subagentStopFast } from '../../hook/turn-end.ts'

export { writeStdout } from '../../journal/write-files.ts'

export const serveEvent = (input: string) =>
  serveFast(input, process.env, {
    stop: stopFast,
    subagentStop: subagentStopFast,
    sessionEnd: sessionEndFast,
  })
