import { serveFast } from '../../hook/fast.ts'
import { promptFast } from '../../hook/prompt.ts'

export { writeStdout } from '../../journal/write-files.ts'

export const serveEvent = (input: string) =>
  serveFast(input, process.env, { userPrompt: promptFast })
