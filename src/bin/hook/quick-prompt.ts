import { promptQuickly } from '../../hook/quick/at-prompt.ts'
import { serveQuickly } from '../../hook/quick/serve-quickly.ts'

export { writeOut } from '../../journal/files.ts'

export const serveEvent = (input: string) =>
  serveQuickly(input, process.env, { userPrompt: promptQuickly })
