import { serveFast } from '../../hook/fast.ts'
import { preCompactFast } from '../../hook/pre-compact.ts'
import { sessionStartFast } from '../../hook/session-start.ts'

export { writeStdout } from '../../journal/write-files.ts'

export const serveEvent = (input: string) =>
  serveFast(input, process.env, { sessionStart: sessionStartFast, preCompact: preCompactFast })
