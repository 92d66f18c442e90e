import { execFile } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { build } from 'rolldown'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openProject } from '../../src/core.ts'
import { git, initRepository, scratchFolder } from '../support/scratch.ts'

const run = promisify(execFile)
const WRITERS = 16
const EACH = 500
// Inside the project, so that the SQLite package is found from it.
const tools = join(
  import.meta.dirname,
  '..',
  '..',
  'node_modules',
  '.cache',
  `stint-many-${process.pid}`,
)

beforeAll(() =>
  build({
    input: join(import.meta.dirname, 'many-writers.worker.ts'),
    platform: 'node',
    external: ['@photostructure/sqlite'],
    output: { dir: tools, format: 'esm' },
    logLevel: 'warn',
  }),
)
afterAll(() => rmSync(tools, { recursive: true, force: true }))

test('sixteen processes append at least 8,000 entries to one session, none lost or duplicated', async () => {
  const root = join(scratchFolder(), 'project')
  initRepository(root)
  process.env.STINT_STATE_HOME = join(root, '..', 'state')
  const project = openProject(root)
  await project.init({ name: 'many' })
  const enough = join(root, '..', 'enough')
  const writers = Array.from({ length: WRITERS }, (_, writer) =>
    run(
      process.execPath,
      [join(tools, 'many-writers.worker.js'), root, String(writer), String(EACH), enough],
      { maxBuffer: 100_000_000 },
    ),
  )
  let cleaned = 0
  const finished = Promise.all(writers)
  const written = new AbortController()
  finished.then(
    () => written.abort(),
    () => written.abort(),
  )
  while (!written.signal.aborted && cleaned < 20) {
    await sleep(150)
    // It fails when a writer restores the journal while the folder is being removed.
    await run('git', ['clean', '-fdxq'], { cwd: root }).catch(() => undefined)
    cleaned += 1
    if (cleaned > 1) writeFileSync(enough, '')
  }
  const acknowledged = (await finished).flatMap(({ stdout }) =>
    [...stdout.matchAll(/^ack (\S+)$/gm)].map((match) => match[1]!),
  )
  expect(cleaned).toBeGreaterThan(1)
  expect(acknowledged.length).toBeGreaterThanOrEqual(WRITERS * EACH)
  expect(new Set(acknowledged).size).toBe(acknowledged.length)

  const { state, entries, damage } = await project.view('many')
  const held = new Set(entries.map((entry) => entry.id))
  expect(acknowledged.filter((id) => !held.has(id))).toEqual([])
  expect(damage).toEqual([])
  expect(state.progress.items).toHaveLength(acknowledged.length)
  expect(new Set(state.progress.items.map((item) => item.text)).size).toBe(acknowledged.length)
  project.dispose()
  expect(git(root, 'status', '--porcelain')).toBe('')
})
