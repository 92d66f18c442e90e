import { afterEvent } from '../../hook/after.ts'

export async function serveEvent(input: string): Promise<string> {
  await afterEvent(input, process.env)
  return ''
}
