import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { contentHash } from '../../src/context/handoff/frontmatter.ts'
import { recordedHandoffs } from '../../src/context/handoff/recorded-handoffs.ts'
import { gitProject } from '../support/project.ts'

const PROGRAM = join(import.meta.dirname, '../../dist/stint.js')
const PROCESSES = 6
const run = promisify(execFile)

/** Runs one command; a failure includes its output. */
async function stint(cwd: string, ...args: string[]): Promise<void> {
  const { code, output } = await run(process.execPath, [PROGRAM, ...args], { cwd }).then(
    () => ({ code: 0, output: '' }),
    (error: { code: number; stdout: string; stderr: string }) => ({
      code: error.code,
      output: error.stdout + error.stderr,
    }),
  )
  expect({ args, code, output }).toEqual({ args, code: 0, output: '' })
}

test('six processes that create handoffs concurrently get six numbers and lose nothing', async () => {
  const world = gitProject()
  await world.run((project) => project.init({ name: 'shared' }))
  world.write('a.txt', 'half done\n')
  await Promise.all(
    Array.from({ length: PROCESSES }, (_, lane) =>
      stint(world.root, 'handoff', 'create', '--reason', `lane ${lane}`),
    ),
  )
  const made = recordedHandoffs(world.journal())
  const numbers = made.map(({ number }) => number).toSorted((a, b) => a - b)
  expect(numbers).toEqual(Array.from({ length: PROCESSES }, (_, index) => index + 1))
  expect(made.map(({ text }) => text).toSorted()).toEqual(
    Array.from({ length: PROCESSES }, (_, lane) => `lane ${lane}`),
  )
  for (const { number, document, hash } of made) {
    const file = readFileSync(
      world.path('.sessions', 'journal', world.sessionId(), 'handoffs', `${number}.md`),
      'utf8',
    )
    expect(file).toBe(document)
    expect(contentHash(file)).toBe(hash)
  }
  // No handoff made another one stale.
  for (const { number } of made) {
    await stint(world.root, 'handoff', 'accept', String(number))
  }
})
