import { join } from 'node:path'
import { runAfterEvent } from '../../hook/after-event.ts'

export { writeStdout } from '../../journal/write-files.ts'

export async function serveEvent(input: string): Promise<string> {
  await runAfterEvent(input, process.env, join(__dirname, 'stint.js'))
  return ''
}
