import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { tokenTable } from './token-table.ts'

test('the table of tokens on the page is the one that is counted now', () => {
  const page = readFileSync(new URL('../../../docs/export.md', import.meta.url), 'utf8')
  expect(/<!-- tokens -->\n([\s\S]*?)\n<!-- end of tokens -->/.exec(page)?.[1]).toBe(tokenTable())
})
