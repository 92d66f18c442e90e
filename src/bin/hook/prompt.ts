import { onPrompt, recordPrompt } from '../../hook/prompt.ts'
import { serveWithHandlers } from '../../hook/serve-hook.ts'

export { writeStdout } from '../../journal/write-files.ts'

export const serveEvent = (input: string) =>
  serveWithHandlers(input, process.env, { userPrompt: onPrompt }, { userPrompt: recordPrompt })
