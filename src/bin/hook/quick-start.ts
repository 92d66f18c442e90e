import { preCompactQuickly } from '../../hook/quick/at-compact.ts'
import { startQuickly } from '../../hook/quick/at-start.ts'
import { serveQuickly } from '../../hook/quick/serve-quickly.ts'

export { writeOut } from '../../journal/files.ts'

export const serveEvent = (input: string) =>
  serveQuickly(input, process.env, { sessionStart: startQuickly, preCompact: preCompactQuickly })
