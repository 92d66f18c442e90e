import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { ClaudeWorld } from './claude-world.ts'
import { CLAUDE_VERSIONS } from './install.ts'

const BETA = 'token-efficient-tools-2025-02-19'
/** The model that the beta was made for, and one that has it built in. */
const MODELS = ['claude-3-7-sonnet-20250219', 'claude-sonnet-4-5']

describe.each(CLAUDE_VERSIONS)('token-efficient tools in Claude Code %s', (version) => {
  async function betasOf(world: ClaudeWorld, model: string): Promise<readonly string[]> {
    world.stub.forget()
    const turned = await world.ask('hello', '--model', model)
    expect(turned.is_error).toBe(false)
    return world.stub.turns.at(-1)!.betas
  }

  test.each(MODELS)(
    'are requested with %s after a setup with the flag, beside the betas of the client',
    async (model) => {
      const world = await ClaudeWorld.create(version)
      const before = await betasOf(world, model)
      expect(before).toContain('claude-code-20250219')
      expect(before).not.toContain(BETA)

      world.stint('setup', 'claude', '--token-efficient-tools')
      const after = await betasOf(world, model)
      expect(after).toContain(BETA)
      expect(after.filter((beta) => beta !== BETA).toSorted()).toEqual(before.toSorted())

      world.stint('setup', 'claude', '--remove')
      expect(await betasOf(world, model)).not.toContain(BETA)
    },
  )

  test('are requested beside the betas in the user settings', async () => {
    const world = await ClaudeWorld.create(version)
    const path = world.path('.claude', 'settings.local.json')
    const settings = JSON.parse(readFileSync(path, 'utf8')) as object
    writeFileSync(
      path,
      JSON.stringify({ ...settings, env: { ANTHROPIC_BETAS: 'theirs-2025-01-01' } }),
    )
    world.stint('setup', 'claude', '--token-efficient-tools')
    expect(await betasOf(world, MODELS[0]!)).toEqual(
      expect.arrayContaining(['theirs-2025-01-01', BETA]),
    )
  })

  // Shows why the beta goes into this variable.
  test.each([
    ['ANTHROPIC_BETA', { ANTHROPIC_BETA: BETA }, []],
    ['a custom header', { ANTHROPIC_CUSTOM_HEADERS: `anthropic-beta: ${BETA}` }, []],
    ['--betas', {}, ['--betas', BETA]],
  ])('are not requested by %s', async (_, env, args) => {
    const world = await ClaudeWorld.create(version, { setup: false })
    Object.assign(world.env, env)
    await world.ask('hello', '--model', MODELS[0]!, ...args)
    expect(world.stub.turns.at(-1)!.betas).not.toContain(BETA)
  })

  test('come from the settings, not from the shell', async () => {
    const world = await ClaudeWorld.create(version)
    world.env.ANTHROPIC_BETAS = 'of-the-shell-2025-01-01'
    world.stint('setup', 'claude', '--token-efficient-tools')
    const betas = await betasOf(world, MODELS[0]!)
    expect(betas).toContain(BETA)
    expect(betas).not.toContain('of-the-shell-2025-01-01')
  })
})
