import { mkdirSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { setupWorld } from './world.ts'

const BETA = 'token-efficient-tools-2025-02-19'
const FLAG = '--token-efficient-tools'

function world(settings?: string) {
  const base = setupWorld()
  mkdirSync(base.at('.claude'))
  if (settings !== undefined) writeFileSync(base.local, settings)
  const env = (path = base.local) =>
    (JSON.parse(base.read(path)) as { env?: Record<string, unknown> }).env
  return { ...base, shell: base.env, env }
}

describe('token-efficient tools', () => {
  test('are requested only when a setup has the flag', async () => {
    const { stint, env } = world()
    await stint('setup', 'claude')
    expect(env()).toBeUndefined()
    const ran = await stint('setup', 'claude', FLAG)
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' })
    expect(env()).toEqual({ ANTHROPIC_BETAS: BETA })
  })

  test('are shown by a dry run, which writes nothing', async () => {
    const { stint, everything } = world()
    await stint('setup', 'claude')
    const before = everything()
    expect((await stint('setup', 'claude', FLAG, '--dry-run')).stdout).toContain(
      `+    "ANTHROPIC_BETAS": "${BETA}"`,
    )
    expect(everything()).toEqual(before)
  })

  test('stay requested through the next setup, and a second setup changes nothing', async () => {
    const { stint, env, everything } = world()
    await stint('setup', 'claude', FLAG)
    const before = everything()
    for (const flags of [[FLAG], []])
      expect((await stint('setup', 'claude', ...flags)).stdout).toContain('nothing changed')
    expect(everything()).toEqual(before)
    await stint('setup', 'claude', '--notify')
    expect(env()).toEqual({ ANTHROPIC_BETAS: BETA })
  })

  test.each([
    ['no environment', '{\n  "model": "opus"\n}\n', BETA],
    ['an empty environment', '{ "env": {} }', BETA],
    ['another variable', '{"env":{"A":"b"}}', BETA],
    [
      'a list of betas',
      '{\n\t"env": {\n\t\t"ANTHROPIC_BETAS": "one-2025-01-01, two-2025-01-01",\n\t\t"A": "b"\n\t}\n}',
      `one-2025-01-01, two-2025-01-01,${BETA}`,
    ],
    ['an empty list', '{ "env": { "ANTHROPIC_BETAS": "" } }', BETA],
    ['a list that ends in a comma', '{ "env": { "ANTHROPIC_BETAS": "one," } }', `one,${BETA}`],
    ['the beta already', `{ "env": { "ANTHROPIC_BETAS": "${BETA}" } }`, BETA],
  ])(
    'keep every byte of settings with %s, and a removal restores them',
    async (_, settings, list) => {
      const { stint, env, read, local } = world(settings)
      await stint('setup', 'claude', FLAG)
      expect(env()!.ANTHROPIC_BETAS).toBe(list)
      await stint('setup', 'claude', '--remove')
      expect(read(local)).toBe(settings)
    },
  )

  test.each([
    [
      'a beta of theirs added',
      `"${BETA}"`,
      `"${BETA},theirs-2025-01-01"`,
      { ANTHROPIC_BETAS: 'theirs-2025-01-01' },
    ],
    ['a variable of theirs added', /"env":\s*\{/, '"env": { "A": "b",', { A: 'b' }],
    ['another setting', '{', '{ "model": "opus",', undefined],
  ])('are removed from settings that the user changed since: %s', async (_, from, to, rest) => {
    const { stint, env, read, write, local } = world('{ "permissions": {} }')
    await stint('setup', 'claude', FLAG)
    write(local, read(local).replace(from, to))
    await stint('setup', 'claude', '--remove')
    expect(env()).toEqual(rest)
    expect(read(local)).not.toContain('stint')
  })

  test('requested by the user stay when setup removes its own, and setup prints that', async () => {
    const { stint, env, read, write, local } = world(`{ "env": { "ANTHROPIC_BETAS": "${BETA}" } }`)
    await stint('setup', 'claude', FLAG)
    write(local, read(local).replace('{', '{ "model": "opus",'))
    const ran = await stint('setup', 'claude', '--remove')
    expect(env()).toEqual({ ANTHROPIC_BETAS: BETA })
    expect(ran.stdout).toContain(`left alone: ${BETA}`)
  })

  test('added by hand after a setup are not ours, even after the next setup', async () => {
    const { stint, env, read, write, local } = world('{ "model": "opus" }')
    await stint('setup', 'claude')
    write(local, read(local).replace('{', `{ "env": { "ANTHROPIC_BETAS": "${BETA}" },`))
    await stint('setup', 'claude', '--notify')
    await stint('setup', 'claude', '--remove')
    expect(env()).toEqual({ ANTHROPIC_BETAS: BETA })
  })

  test('keep the inherited betas, which the new list would hide', async () => {
    const { stint, env, user, shared, write, read, local } = world('{ "model": "opus" }')
    write(user, '{ "env": { "ANTHROPIC_BETAS": "mine-2025-01-01" } }')
    await stint('setup', 'claude', FLAG)
    expect(env()).toEqual({ ANTHROPIC_BETAS: `mine-2025-01-01,${BETA}` })
    write(local, read(local).replace('opus', 'sonnet'))
    await stint('setup', 'claude', '--remove')
    expect(read(local)).toBe('{ "model": "sonnet" }')
    const ran = await stint('setup', 'claude', '--shared', FLAG)
    expect(env(shared)).toEqual({ ANTHROPIC_BETAS: BETA })
    expect(ran.stdout).toContain(`ANTHROPIC_BETAS of ${user} does not hold in this project`)
  })

  test('are reported where they have no effect', async () => {
    const { stint, run, shell, local } = world('{ "env": { "ANTHROPIC_BETAS": "one" } }')
    expect((await stint('setup', 'claude', '--user', FLAG)).stdout).toContain(
      `no effect in this project: ${local}`,
    )
    const ran = await run(['setup', 'claude', '--shared', FLAG], {
      env: { ...shell, ANTHROPIC_BETAS: 'two' },
    })
    expect(ran.stdout).toContain('ANTHROPIC_BETAS of your shell')
  })

  test.each([
    ['{ "env": [] }', '"env" is not an object'],
    ['{ "env": { "ANTHROPIC_BETAS": 3 } }', '"env.ANTHROPIC_BETAS" is not a text'],
  ])('refuse settings they cannot be added to: %s', async (settings, reason) => {
    const { stint, read, local } = world(settings)
    const ran = await stint('setup', 'claude', FLAG)
    expect(ran.exitCode).toBe(1)
    expect(ran.stderr).toContain(reason)
    expect(read(local)).toBe(settings)
  })

  test.each([
    [['--plugin', './p'], 'a plugin has no environment'],
    [['--remove'], '--remove takes out everything'],
  ])('cannot be combined with %j', async (flags, reason) => {
    const { stint } = world()
    const ran = await stint('setup', 'claude', FLAG, ...flags)
    expect(ran.exitCode).toBe(2)
    expect(ran.stderr).toContain(reason)
  })
})
