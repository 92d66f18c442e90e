import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LEDGER_CACHE_VERSION } from '../../src/ledger/gather-amounts.ts'

const RULES = ['amounts.ts', 'journal-amounts.ts', 'run-amounts.ts']

/** The version, with a hash of the rules. Renaming changes only the hash. */
const KNOWN = { version: 2, rules: '23e788bf6bb227b3' }

test('the cache version changes with the counting rules', () => {
  const hash = createHash('sha256')
  // Comments and line breaks do not change the figures.
  for (const name of RULES)
    hash.update(codeOf(readFileSync(join(import.meta.dirname, '../../src/ledger', name), 'utf8')))
  expect(
    { version: LEDGER_CACHE_VERSION, rules: hash.digest('hex').slice(0, 16) },
    `${RULES.join(', ')} changed: if the same files now give different figures, raise LEDGER_CACHE_VERSION in src/ledger/gather-amounts.ts, or old and new figures are mixed; then note both here`,
  ).toEqual(KNOWN)
})

function codeOf(text: string): string {
  return text.replaceAll(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, '').replaceAll(/\s+/g, '')
}
