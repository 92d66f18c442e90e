import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { conversationStore } from '../../src/history/store.ts'
import { program } from '../support/cli.ts'
import { initRepository, scratchFolder } from '../support/scratch.ts'

const MESSAGES = 8_000

test('an import that is killed repeatedly loses and duplicates nothing', async () => {
  const root = scratchFolder()
  const project = join(root, 'project')
  mkdirSync(project)
  initRepository(project)
  const transcript = join(root, 'c1.jsonl')
  const lines = Array.from({ length: MESSAGES }, (_, n) => {
    const message = { role: 'user', content: `message ${n} ${'says something '.repeat(100)}` }
    return JSON.stringify({
      type: 'user',
      uuid: `u${n}`,
      sessionId: 'c1',
      cwd: project,
      timestamp: '2026-03-01T10:00:00Z',
      message,
    })
  })
  writeFileSync(transcript, `${lines.join('\n')}\n`)
  const stored = join(project, '.sessions', 'conversations', 'c1.jsonl')
  const size = () => (existsSync(stored) ? statSync(stored).size : 0)
  const run = () =>
    spawn(process.execPath, [program, 'import', 'claude', transcript], {
      cwd: project,
      stdio: 'ignore',
      env: { PATH: process.env['PATH'], HOME: root, STINT_STATE_HOME: join(root, 'state') },
    })
  for (let kills = 0; kills < 3; kills += 1) {
    const before = size()
    const child = run()
    const ended = new Promise((resolve) => child.once('exit', resolve))
    // It is killed as soon as it has written something.
    while (child.exitCode === null && size() === before)
      await new Promise((wake) => setTimeout(wake, 1))
    child.kill('SIGKILL')
    await ended
  }
  await new Promise((resolve) => run().once('exit', resolve))
  const items = [...conversationStore(join(project, '.sessions'), {}).read('c1')]
  const ids = items.flatMap((item) => (item.type === 'message' ? [item.id] : []))
  expect(ids).toHaveLength(MESSAGES)
  expect(new Set(ids).size).toBe(MESSAGES)
  expect(ids).toEqual(Array.from({ length: MESSAGES }, (_, n) => `u${n}`))
})
