import { statusLine } from '../../hook/status-line.ts'

export { writeStdout } from '../../journal/files.ts'

export const serveEvent = (input: string) =>
  statusLine(input, process.env, new Date().toISOString())
