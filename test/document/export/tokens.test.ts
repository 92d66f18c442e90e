import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { tokenTable } from './token-table.ts'

test('the token table in docs/export.md matches the current counts', () => {
  const page = readFileSync(new URL('../../../docs/export.md', import.meta.url), 'utf8')
  expect(/<!-- tokens -->\n([\s\S]*?)\n<!-- end of tokens -->/.exec(page)?.[1]).toBe(tokenTable())
})
