import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { terminal } from '../support/cli.ts'
import { agreeTo } from '../support/trust.ts'

function shell() {
  const world = terminal()
  mkdirSync(join(world.cwd, '.agents'))
  writeFileSync(
    join(world.cwd, '.agents', 'pages.md'),
    '---\nname: pages\ndescription: Builds pages\nmodel: opus\n---\nUse tabs.\n',
  )
  writeFileSync(join(world.cwd, '.agents', 'half.md'), 'no head')
  agreeTo(world.cwd, world.env)
  return world
}

describe('stint profiles', () => {
  test('lists each profile with its purpose, tokens and origin', async () => {
    const { exitCode, stdout, stderr } = await shell().stint('profiles')
    expect(exitCode).toBe(0)
    expect(stdout.split('\n')[0]).toMatch(
      /^pages {10}Builds pages {2}\(\d+ tokens, opus, \.agents\/pages\.md\)$/,
    )
    expect(stdout).toMatch(
      /^debugger {7}Finds the cause of a fault and mends it there {2}\(\d+ tokens, built in\)$/m,
    )
    expect(stderr).toContain('.agents/half.md has no head')
  })

  test('prints the same with --json', async () => {
    const { profiles, problems } = (await shell().stint('profiles', '--json')).json<{
      profiles: readonly Record<string, unknown>[]
      problems: readonly string[]
    }>()
    expect(profiles[0]).toEqual({
      name: 'pages',
      description: 'Builds pages',
      labels: [],
      model: 'opus',
      tokens: expect.any(Number),
      file: '.agents/pages.md',
    })
    expect(profiles.at(-1)).toMatchObject({ name: 'tests', file: null })
    expect(problems).toHaveLength(1)
  })

  test('shows one profile, also by an alias of its specialist', async () => {
    const world = shell()
    expect((await world.stint('profiles', 'show', 'pages')).stdout).toMatch(
      /^pages: Builds pages\n.*\n\nUse tabs\.\n$/,
    )
    expect((await world.stint('profiles', 'show', 'Docs')).stdout).toMatch(/^documentation: /)
    expect((await world.stint('profiles', 'show', 'pages', '--json')).json()).toMatchObject({
      name: 'pages',
      body: 'Use tabs.',
    })
  })

  test('lists the profiles when asked for an unknown one', async () => {
    const world = shell()
    const { exitCode, stderr } = await world.stint('profiles', 'show', 'nobody')
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('there are pages, architect, code'),
    })
    expect((await world.stint('profiles', 'show', 'nobody', '--json')).json()).toMatchObject({
      error: { code: 'NO_PROFILE' },
    })
  })

  test('needs neither git nor sessions, and creates nothing', async () => {
    const world = terminal({ git: false })
    expect(
      (await world.stint('profiles')).stdout.split('\n').filter((line) => line !== ''),
    ).toHaveLength(8)
    const { readdirSync } = await import('node:fs')
    expect(readdirSync(world.cwd)).toEqual([])
  })
})
