import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { program } from '../support/cli.ts'
import { project } from './agent.ts'

test('a hook records its own time, injected characters and writes, and nothing of others', async () => {
  const { cwd, env, notes, stint } = project()
  await stint('init', '--name', 'there', '--goal', 'Be there')
  const conversation = '00000000-0000-4000-8000-00000000c057'
  const runHook = (event: string, fields: object) => {
    const input = JSON.stringify({
      session_id: conversation,
      cwd,
      hook_event_name: event,
      ...fields,
    })
    const began = process.hrtime.bigint()
    const { stdout } = spawnSync(process.execPath, [join(dirname(program), 'hook.cjs')], {
      cwd,
      env,
      input,
      encoding: 'utf8',
    })
    return { stdout, ms: Number(process.hrtime.bigint() - began) / 1e6 }
  }
  const first = runHook('SessionStart', { source: 'startup' })
  const injected = (
    JSON.parse(first.stdout) as { hookSpecificOutput: { additionalContext: string } }
  ).hookSpecificOutput.additionalContext
  const second = runHook('SessionStart', { source: 'resume' })
  const lines = readFileSync(join(notes, `${conversation}.costs`), 'utf8')
    .trimEnd()
    .split('\n')
  const figures = lines.map((line) => line.split(' ').slice(1).map(Number))
  expect(lines.map((line) => line.split(' ')[0])).toEqual(['SessionStart', 'SessionStart'])
  expect(figures[0]![1]).toBe(injected.length)
  for (const [index, { ms }] of [first, second].entries()) {
    const [noted = 0, , writes = 0] = figures[index]!
    expect(noted).toBeGreaterThan(0)
    // The process ended after recording it.
    expect(noted).toBeLessThanOrEqual(Math.ceil(ms))
    expect(writes).toBeGreaterThan(0)
    expect(writes).toBeLessThan(30)
  }
})
