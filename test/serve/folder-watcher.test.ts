import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished, expect, test } from 'vitest'
import { FolderWatcher } from '../../src/page-data/folder-watcher.ts'
import { scratchFolder } from '../support/scratch.ts'

test('a removed and recreated folder is watched again, and a missing one is ignored', async () => {
  const folders = new FolderWatcher()
  onTestFinished(() => folders.close())
  const folder = join(scratchFolder(), 'marks')
  const names: string[] = []
  let woken = () => {}
  const follow = () =>
    folders.watch(folder, (name) => {
      names.push(name)
      woken()
    })
  const heardOf = async (name: string) => {
    while (!names.includes(name)) await new Promise<void>((resolve) => (woken = resolve))
  }
  follow()
  mkdirSync(folder)
  follow()
  writeFileSync(join(folder, 'first'), '')
  await heardOf('first')
  rmSync(folder, { recursive: true })
  mkdirSync(folder)
  await heardOf('marks')
  follow()
  follow()
  writeFileSync(join(folder, 'second'), '')
  await heardOf('second')
  expect(names).not.toContain('')
})
