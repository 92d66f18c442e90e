import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LEDGER_CACHE_VERSION } from '../../src/ledger/gather-amounts.ts'

const RULES = ['amounts.ts', 'journal-amounts.ts', 'run-amounts.ts']

/** The version, with what the rules were when it was raised. */
const KNOWN = { version: 2, rules: 'e0a64bac6c4c0c1a' }

test('what is remembered was counted by the rules of its version', () => {
  const hash = createHash('sha256')
  // A comment or a line that is broken elsewhere counts nothing else.
  for (const name of RULES)
    hash.update(codeOf(readFileSync(join(import.meta.dirname, '../../src/ledger', name), 'utf8')))
  expect(
    { version: LEDGER_CACHE_VERSION, rules: hash.digest('hex').slice(0, 16) },
    `${RULES.join(', ')} changed: if the same files come to something else now, raise VERSION in src/ledger/gather-amounts.ts, or old and new figures are mixed; then note both here`,
  ).toEqual(KNOWN)
})

function codeOf(text: string): string {
  return text.replaceAll(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, '').replaceAll(/\s+/g, '')
}
