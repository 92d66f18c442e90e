import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { slashCommandFiles } from '../../src/harness/claude/setup/plugin.ts'
import { setupWorld } from './world.ts'

describe('a plugin', () => {
  test('holds the same hooks and slash commands as settings, in a folder that is a marketplace', async () => {
    const { stint, at, local, settings, read } = setupWorld()
    const ran = await stint('setup', 'claude', '--plugin', 'mine')
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' })
    expect(ran.stdout).toContain(`claude plugin marketplace add ${at('mine')}`)
    await stint('setup', 'claude')
    const json = (...path: string[]) => JSON.parse(read(at('mine', ...path)))
    expect(json('stint', 'hooks', 'hooks.json')).toEqual({ hooks: settings(local).hooks })
    expect(json('.claude-plugin', 'marketplace.json')).toMatchObject({
      name: 'stint',
      plugins: [{ name: 'stint', source: './stint' }],
    })
    expect(json('stint', '.claude-plugin', 'plugin.json')).toMatchObject({
      name: 'stint',
      version: expect.stringMatching(/^\d+\.\d+/),
    })
    for (const [name, text] of slashCommandFiles()) {
      expect(read(at('mine', 'stint', 'commands', name))).toBe(text)
      expect(read(at('.claude', 'commands', name))).toBe(text)
    }
  })

  test('registers the notification on request', async () => {
    const { stint, at, read } = setupWorld()
    await stint('setup', 'claude', '--plugin', 'mine', '--notify')
    expect(
      Object.keys(JSON.parse(read(at('mine', 'stint', 'hooks', 'hooks.json'))).hooks),
    ).toContain('Notification')
  })

  test('is written once, and removed without a trace', async () => {
    const { stint, at, everything } = setupWorld()
    await stint('setup', 'claude', '--plugin', 'deep/mine', '--notify')
    const before = everything()
    expect((await stint('setup', 'claude', '--plugin', 'deep/mine', '--notify')).stdout).toContain(
      'nothing changed',
    )
    expect(everything()).toEqual(before)
    await stint('setup', 'claude', '--plugin', 'deep/mine', '--remove')
    expect(existsSync(at('deep'))).toBe(false)
    expect((await stint('setup', 'claude', '--plugin', 'deep/mine', '--remove')).stdout).toContain(
      'Nothing of Stint',
    )
  })

  test('of an older version is updated, and loses files that this version no longer has', async () => {
    const { stint, at, write, read, folder } = setupWorld()
    await stint('setup', 'claude', '--plugin', 'mine')
    const [manifest] = readdirSync(join(folder, 'state', 'setup')).map((name) =>
      join(folder, 'state', 'setup', name),
    )
    const gone = at('mine', 'stint', 'commands', 'session-gone.md')
    const current = at('mine', 'stint', 'commands', 'session-log.md')
    write(gone, read(current))
    write(
      manifest!,
      read(manifest!).replace(
        JSON.stringify(current),
        `${JSON.stringify(gone)}: ${JSON.stringify(entryOf(read(manifest!), current))},\n${JSON.stringify(current)}`,
      ),
    )
    await stint('setup', 'claude', '--plugin', 'mine')
    expect(existsSync(gone)).toBe(false)
    expect(existsSync(current)).toBe(true)
  })

  test('does not overwrite foreign files', async () => {
    const { stint, at, write, everything } = setupWorld()
    write(at('mine', '.claude-plugin', 'marketplace.json'), '{}')
    const before = everything()
    const ran = await stint('setup', 'claude', '--plugin', 'mine')
    expect(ran).toMatchObject({ exitCode: 1, stdout: '' })
    expect(ran.stderr).toContain('marketplace.json is there already and is not ours')
    expect(everything()).toEqual(before)
  })
})

function entryOf(manifest: string, path: string): unknown {
  return JSON.parse(manifest).files[path]
}
