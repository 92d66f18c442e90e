import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { namesIn } from '../../../journal/look.ts'
import { parseJson } from '../../../text/json-fields.ts'
import { sessionJsonIn } from './worker/json-store.ts'
import type { StoreName } from './worker/orders.ts'

/** The file that holds the session, found without any help of what is under trial. */
export function truthIn(store: StoreName, root: string): string {
  if (store === 'session-json') return sessionJsonIn(root)
  const journals = join(root, '.sessions', 'journal')
  const [id, ...more] = namesIn(journals)
  if (id === undefined || more.length > 0) throw new Error(`there is not one session in ${root}`)
  return join(journals, id, 'log.jsonl')
}

/** Whether a write to it was cut short: the bytes at its end are no whole piece of JSON. */
export function isTorn(store: StoreName, root: string): boolean {
  const text = readFileSync(truthIn(store, root), 'utf8')
  const last = store === 'session-json' ? text : text.slice(text.trimEnd().lastIndexOf('\n') + 1)
  return parseJson(last) === undefined
}
