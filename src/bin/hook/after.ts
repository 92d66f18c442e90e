import { dirname, join } from 'node:path'
import { afterEvent } from '../../hook/after.ts'

export async function serveEvent(input: string): Promise<string> {
  const [, hook = ''] = process.argv
  await afterEvent(input, process.env, join(dirname(hook), 'stint.js'))
  return ''
}
