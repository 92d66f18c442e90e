import { expect, test } from 'vitest'
import { countedPage, savingsPage } from './tables.ts'

test('the published tables of savings and costs match the current counts', async () => {
  expect(savingsPage()).toBe(await countedPage())
})
