import { linkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { Log } from '../../src/journal/log.ts'
import { readLog } from '../../src/journal/read-log.ts'
import { scratchFolder } from '../support/scratch.ts'

const other = vi.hoisted(() => ({ restore: (_link: string): void => {} }))

vi.mock('../../src/journal/write-files.ts', async (original) => {
  const real = await original<typeof import('../../src/journal/write-files.ts')>()
  const createFile: typeof real.createFile = (path, ...rest) => {
    const isCreated = real.createFile(path, ...rest)
    other.restore(path)
    return isCreated
  }
  return { ...real, createFile }
})

test('a new log counts as created when another process restores its first name at the same time', () => {
  const folder = scratchFolder()
  const paths = { path: join(folder, 'work/log.jsonl'), link: join(folder, 'git/log.jsonl') }
  other.restore = (link) => linkSync(link, paths.path)
  const [record] = new Log(paths).create([{ kind: 'note.added', by: 'test', data: { text: 'a' } }])
  expect(readLog(paths.path).records.map(({ id }) => id)).toEqual([record!.id])
})
