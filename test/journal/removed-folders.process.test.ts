import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { markTouched } from '../../src/index/touch-marks.ts'
import { createFolder } from '../../src/journal/write-files.ts'
import { mintId } from '../../src/journal/ids.ts'
import { removeAgainAndAgain } from '../support/removal.ts'
import { scratchFolder } from '../support/scratch.ts'

const ROUNDS = 200

test('a folder is created while another process keeps removing it and its parents', async () => {
  const top = join(scratchFolder(), 'top')
  await removeAgainAndAgain([top])
  for (let round = 0; round < ROUNDS; round += 1)
    expect(() => createFolder(join(top, 'a', 'b', 'c'))).not.toThrow()
})

test('creating a folder behind a dangling link is not retried forever', () => {
  const folder = scratchFolder()
  symlinkSync(join(folder, 'nowhere'), join(folder, 'link'))
  expect(() => createFolder(join(folder, 'link', 'a'))).toThrow('ENOENT')
  expect(() => markTouched(join(folder, 'link'), mintId(undefined))).toThrow('ENOENT')
})

test('an append is marked while another process removes the folder of marks', async () => {
  const sessions = join(scratchFolder(), 'top', '.sessions')
  await removeAgainAndAgain([join(sessions, '..')])
  const id = mintId(undefined)
  for (let round = 0; round < ROUNDS; round += 1)
    expect(() => markTouched(sessions, id)).not.toThrow()
})
