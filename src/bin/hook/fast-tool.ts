import { serveFast } from '../../hook/fast.ts'
import { toolUsedFast } from '../../hook/tool-use.ts'

export { writeStdout } from '../../journal/write-files.ts'

export const serveEvent = (input: string) =>
  serveFast(input, process.env, { toolUsed: toolUsedFast })
