import { execFile } from 'node:child_process'
import { copyFileSync, existsSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { Log } from '../../src/journal/log.ts'
import { readLog } from '../../src/journal/read-log.ts'
import { bundleProgram } from '../support/bundle.ts'
import { initRepository, scratchFolder } from '../support/scratch.ts'

const run = promisify(execFile)
const WRITERS = 16

test('sixteen processes lose and duplicate nothing while clocks go back and git clean removes the folder', async () => {
  const world = newWorld()
  await writeWhile(world, 500, [4, 100], async () => {
    // It fails when a writer restores the log during the removal; the log was still gone for a moment.
    const isClean = await run('git', ['clean', '-fdx'], { cwd: world.repository }).then(
      () => true,
      () => !existsSync(world.place.path),
    )
    return isClean ? 1 : 0
  })
})

test('sixteen processes lose and duplicate nothing while a program restores an old copy of the log', async () => {
  const world = newWorld()
  const old = join(world.folder, 'old.jsonl')
  copyFileSync(world.place.path, old)
  await writeWhile(world, 200, [3, 8], async () => {
    copyFileSync(old, `${old}.copy`)
    renameSync(`${old}.copy`, world.place.path)
    return 1
  })
})

function newWorld() {
  const folder = scratchFolder()
  const repository = join(folder, 'repository')
  initRepository(repository)
  const place = {
    path: join(repository, '.sessions/journal/1/log.jsonl'),
    link: join(repository, '.git/stint/journal/1/log.jsonl'),
  }
  new Log(place).create([{ kind: 'session.opened', by: 'test', data: { name: 'many' } }])
  return { folder, repository, place }
}

/** Lets every writer append `each` entries, and more until `disturb` ran `atLeast` times; it runs at most `atMost` times. */
async function writeWhile(
  world: ReturnType<typeof newWorld>,
  each: number,
  [atLeast, atMost]: readonly [number, number],
  disturb: () => Promise<number>,
): Promise<void> {
  const { folder, place } = world
  const program = join(folder, 'worker.mjs')
  await bundleProgram(join(import.meta.dirname, 'many-writers.worker.ts'), program)
  const enough = join(folder, 'enough')
  const written = new AbortController()
  let disturbed = 0
  const disturbing = (async () => {
    while (!written.signal.aborted && readLog(place.link).records.length < WRITERS) await sleep(10)
    while (!written.signal.aborted && disturbed < atMost) {
      disturbed += await disturb()
      if (disturbed >= atLeast) writeFileSync(enough, '')
      await sleep(60)
    }
  })()
  const writers = Array.from({ length: WRITERS }, (_, writer) =>
    run(process.execPath, [program, place.path, place.link, String(writer), String(each), enough], {
      maxBuffer: 100_000_000,
    }),
  )
  const outputs = await Promise.all(writers).finally(() => written.abort())
  await disturbing

  const { records, damage } = new Log(place).read()
  expect(damage).toEqual([])
  const notes = records.filter(({ kind }) => kind === 'note.added')
  const texts = outputs.flatMap(({ stdout }, writer) =>
    stdout
      .trim()
      .split('\n')
      .map((_, index) => `${writer}/${index}`),
  )
  expect(notes.map(({ data }) => String(data['text'])).toSorted()).toEqual(texts.toSorted())

  const held = new Set(notes.map(({ id }) => id))
  for (const [writer, { stdout }] of outputs.entries()) {
    const acknowledged = stdout
      .trim()
      .split('\n')
      .map((line) => line.slice('ack '.length))
    const lost = acknowledged.filter((id) => !held.has(id))
    expect({ writer, lost }).toEqual({ writer, lost: [] })
    expect(acknowledged.length).toBeGreaterThanOrEqual(each)
    expect(acknowledged).toEqual(acknowledged.toSorted())
  }
  expect(disturbed).toBeGreaterThanOrEqual(atLeast)
}
