import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseJson } from '../../src/text/json-fields.ts'
import { answered } from '../capture/transcript.ts'
import { bundleProgram } from '../support/bundle.ts'
import { Copying } from './copy.world.ts'

test("concurrent copies never break each other's lines and lose none", async () => {
  const copying = new Copying()
  const program = join(copying.folder, 'worker.mjs')
  const ready = join(copying.folder, 'ready')
  await bundleProgram(join(import.meta.dirname, 'copy.worker.ts'), program)
  copying.write('')
  const workers = Array.from({ length: 4 }, () =>
    spawn(process.execPath, [program, copying.transcript, copying.target, ready], {
      stdio: ['ignore', 'inherit', 'inherit'],
    }),
  )
  const ended = workers.map((worker) => once(worker, 'exit'))
  const texts = Array.from(
    { length: 400 },
    (_, index) => `message ${index} ${'word '.repeat(index)}`,
  )
  for (const text of texts) {
    copying.write(`${answered(text)}\n`)
    await new Promise((resolve) => setImmediate(resolve))
  }
  writeFileSync(ready, '')
  expect(await Promise.all(ended)).toEqual(workers.map(() => [0, null]))
  expect([...copying.texts].sort()).toEqual([...texts].sort())
  const damaged = copying.bytes
    .split('\n')
    .filter((text) => text !== '' && parseJson(text) === undefined)
  expect(damaged).toEqual([])
})
