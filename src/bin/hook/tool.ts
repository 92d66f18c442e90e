import { onToolUsed } from '../../hook/tool-use.ts'
import { serve } from '../../hook/serve.ts'

export { writeOut } from '../../journal/files.ts'

export const serveEvent = (input: string) => serve(input, process.env, { toolUsed: onToolUsed })
