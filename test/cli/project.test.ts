import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { estimateTokens } from '../../src/text/tokens.ts'
import { terminal } from '../support/cli.ts'

function shop() {
  const world = terminal()
  writeFileSync(join(world.cwd, 'package.json'), '{"name":"shop","scripts":{"test":"vitest run"}}')
  world.git('add', '.')
  world.git('commit', '-qm', 'a manifest')
  return world
}

describe('stint project', () => {
  test('prints the repository summary and caches it', async () => {
    const { stint } = shop()
    const ran = await stint('project')
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' })
    expect(ran.stdout).toContain('Project: shop\n')
    expect(ran.stdout).toContain('- test: npm test (vitest run)')
    expect((await stint('project', '--json')).json()).toMatchObject({
      kept: true,
      text: ran.stdout.trimEnd(),
    })
    expect((await stint('project', '--refresh', '--json')).json()).toMatchObject({
      kept: false,
      renewed: 'asked',
    })
  })

  test('explains where each part was read and what it costs', async () => {
    const { stint, git } = shop()
    const { stdout } = await stint('project', '--explain')
    expect(stdout).toMatch(/^\d+ of 500 tokens at [0-9a-f]{7}; read for the first time$/m)
    expect(stdout).toMatch(/^ +\d+ {2}commands +1 of 1; from package\.json$/m)
    expect(stdout).toContain('Files read: package.json')
    expect((await stint('project', '--explain')).stdout).toContain('as kept, and still true')
    git('commit', '-q', '--allow-empty', '-m', 'x')
    expect((await stint('project', '--explain')).stdout).toContain('because HEAD is another commit')
  })

  test('redacts configured secrets before caching', async () => {
    const { stint, cwd, git } = shop()
    await stint('init', '--name', 'a')
    writeFileSync(join(cwd, '.sessions', 'config.yaml'), 'redact:\n  patterns: ["ACME-[0-9]{6}"]\n')
    writeFileSync(join(cwd, 'package.json'), '{"name":"shop","scripts":{"test":"run ACME-123456"}}')
    git('commit', '-qam', 'x')
    expect((await stint('project')).stdout).toContain('npm test (run [redacted:custom])')
  })

  test('suggests what to do outside a repository', async () => {
    const { stint } = terminal({ git: false })
    const ran = await stint('project')
    expect(ran.exitCode).toBe(1)
    expect(ran.stderr).toContain('there is no git repository here')
    expect(ran.stderr).toContain('git init')
    expect((await stint('project', '--json')).json()).toMatchObject({
      error: { code: 'NO_REPOSITORY' },
    })
  })
})

describe('stint resume', () => {
  test('prints the repository summary for an agent but not for a user', async () => {
    const { stint, run } = shop()
    await stint('init', '--name', 'a', '--goal', 'Sell')
    const projectSection = '   ## Project (as read from its repository)\n   Project: shop\n'
    expect((await stint('resume')).stdout).toContain(projectSection)
    expect((await stint('resume', '--json')).json()).toMatchObject({
      project: expect.stringContaining('Project: shop\n'),
    })
    expect((await run(['resume'], { canAsk: true })).stdout).not.toContain('## Project')
  })

  test('works without a repository', async () => {
    const { stint } = terminal({ git: false })
    await stint('init', '--name', 'a')
    const ran = await stint('resume')
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' })
    expect(ran.stdout).not.toContain('## Project')
  })
})

describe('stint pack', () => {
  test('prints the context for a model, the project last', async () => {
    const { stint } = shop()
    await stint('init', '--name', 'fix-auth', '--goal', 'Stop the login loop')
    const { stdout, exitCode } = await stint('pack')
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^<stint-session name="fix-auth">\n/)
    expect(stdout).toContain('Objective: Stop the login loop\n')
    expect(stdout).toContain('\nThe project, as read from its repository:\nProject: shop\n')
    expect(stdout).toMatch(/\n\[stint:[0-9a-f]{8}\]\n<\/stint-session>\n$/)
  })

  test('stays within the budget, and uses a larger one', async () => {
    const { stint } = shop()
    await stint('init', '--name', 'a', '--goal', 'Sell')
    const decisions = Array.from({ length: 90 }, (_, n) => [
      '--decision',
      `Use queue number ${n} for the things of kind ${n}, as long as no other queue of the kind has room for more of them`,
    ]).flat()
    await stint('log', ...decisions)
    const within = async (budget: string) =>
      (await stint('pack', '--budget', budget)).stdout.trimEnd()
    const [small, usual, large] = [await within('300'), await within('2000'), await within('20000')]
    expect(estimateTokens(small)).toBeLessThanOrEqual(300)
    expect(estimateTokens(usual)).toBeLessThanOrEqual(2000)
    expect(small.length).toBeLessThan(usual.length)
    expect(usual.length).toBeLessThan(large.length)
    expect(small).toContain('Objective: Sell')
    expect(small).toContain('Left out here')
    expect(large).not.toContain('Left out here')
    expect(large).toContain('Use queue number 0 for')
    expect((await stint('pack')).stdout.trimEnd()).toBe(usual)
  })

  test('explains each section: its content, its cost, and why the rest was left out', async () => {
    const { stint } = shop()
    await stint('init', '--name', 'a', '--goal', 'Sell')
    await stint(
      'log',
      ...Array.from({ length: 30 }, (_, n) => [
        '--discovery',
        `Thing number ${n} is found at some length`,
      ]).flat(),
    )
    const { stdout } = await stint('pack', '--budget', '450', '--explain')
    expect(stdout).toMatch(/^a: \d+ of 450 tokens, in this order\n/)
    expect(stdout).toMatch(/^ +\d+ {2}objective +told$/m)
    expect(stdout).toMatch(
      /^ +\d+ {2}discoveries +\d+ of 30; \d+ had no room: .*: stint view --discoveries$/m,
    )
    expect(stdout).toMatch(/^ +\d+ {2}lines on the project +\d+ of \d+; .*: stint project$/m)
    expect(stdout).toMatch(/^Nothing there is to tell of: .*open blockers/m)
    const { sections, tokens } = (
      await stint('pack', '--budget', '450', '--explain', '--json')
    ).json<{
      tokens: number
      sections: { section: string }[]
    }>()
    expect(tokens).toBeLessThanOrEqual(450)
    expect(sections.map(({ section }) => section).slice(0, 2)).toEqual(['name', 'objective'])
    expect(sections.at(-1)!.section).toBe('lines on the project')
  })

  test.each(['299', '20001', '0'])(
    'refuses a budget of %s and prints the range',
    async (budget) => {
      const { stint } = shop()
      await stint('init', '--name', 'a')
      const ran = await stint('pack', '--budget', budget)
      expect(ran.exitCode).toBe(2)
      expect(ran.stderr).toContain(`a budget of ${budget} tokens cannot be kept`)
      expect(ran.stderr).toContain('from 300 to 20000')
    },
  )

  test('explains how to start a session when there is none', async () => {
    const { stint } = shop()
    const ran = await stint('pack')
    expect(ran.exitCode).toBe(1)
    expect(ran.stderr).toContain('stint init')
  })
})
