import { beginningOf, data, quoted } from './quoted.ts'

/** More than a handoff ever is. */
const LONGEST_DOCUMENT = 40_000

/** What the conversation before left for the next one. */
export function handoffText(document: string): string {
  const text = beginningOf(data(document), LONGEST_DOCUMENT, '`stint handoff show` has all of it')
  return `What the conversation before left for you; look before you rely on it:\n${quoted('handoff', text)}`
}
