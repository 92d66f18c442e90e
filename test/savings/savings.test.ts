import { expect, test } from 'vitest'
import { countedPage, savingsPage } from './tables.ts'

test('the tables of what is saved and what it costs are those that are counted now', async () => {
  expect(savingsPage()).toBe(await countedPage())
})
