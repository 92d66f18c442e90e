import { join } from 'node:path'
import { afterEvent } from '../../hook/after.ts'

export { writeOut } from '../../journal/files.ts'

export async function serveEvent(input: string): Promise<string> {
  await afterEvent(input, process.env, join(__dirname, 'stint.js'))
  return ''
}
