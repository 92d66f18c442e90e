import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ClaudeWorld } from './claude-world.ts'

test('the plugin folder is valid, and installs from a local marketplace', async () => {
  const world = await ClaudeWorld.create('2.1.325', { setup: false })
  const folder = join(world.root, 'marketplace')
  world.stint('setup', 'claude', '--plugin', folder)
  const claude = (...args: readonly string[]) =>
    execFileSync(world.program, args, { cwd: world.project, env: world.env, encoding: 'utf8' })
  expect(claude('plugin', 'validate', folder)).toMatch(/passed/i)
  expect(claude('plugin', 'validate', join(folder, 'stint'))).toMatch(/passed/i)
  claude('plugin', 'marketplace', 'add', folder)
  claude('plugin', 'install', 'stint@stint')
  world.stub.script(
    { tools: [{ name: 'Write', input: { file_path: world.path('made.txt'), content: 'made' } }] },
    { text: 'written' },
  )
  await world.ask('write the file through the marketplace')
  expect(world.ofKind('file.changed')).toEqual([{ path: 'made.txt' }])
})
