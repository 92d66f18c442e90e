import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  appendLine,
  createFile,
  removeFile,
  replaceFile,
  replaceUnsynced,
  writeCount,
} from '../../src/journal/write-files.ts'
import { Log } from '../../src/journal/log.ts'
import { scratchFolder } from '../support/scratch.ts'

test('writes are counted; renames, reads and removals are not', () => {
  const path = (name: string) => join(scratch, name)
  const scratch = scratchFolder()
  const log = new Log({ path: path('log.jsonl') })
  const entry = { kind: 'note.added', by: 'test', data: {} }
  const writes: readonly [what: () => unknown, times: number][] = [
    [() => createFile(path('a'), 'a'), 1],
    [() => replaceFile(path('a'), 'b'), 1],
    [() => replaceUnsynced(path('a'), 'c'), 1],
    [() => appendLine(path('a'), 'd'), 1],
    [() => log.create([entry]), 1],
    [() => log.append([entry, entry]), 1],
    [() => log.read(), 0],
    [() => removeFile(path('a')), 0],
  ]
  for (const [index, [write, times]] of writes.entries()) {
    const before = writeCount()
    write()
    expect({ index, times: writeCount() - before }).toEqual({ index, times })
  }
  log.close()
})

test('a second copy of the module in a process continues the same count', async () => {
  // Readable from outside by this symbol, also in programs that bundle the module.
  const shared = (globalThis as { [key: symbol]: { made: number } | undefined })[
    Symbol.for('stint.writes')
  ]
  appendLine(join(scratchFolder(), 'a'), 'line')
  expect(shared?.made).toBe(writeCount())
})
