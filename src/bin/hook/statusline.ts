import { statusLine } from '../../hook/status-line.ts'

export { writeStdout } from '../../journal/write-files.ts'

export const serveEvent = (input: string) =>
  statusLine(input, process.env, new Date().toISOString())
