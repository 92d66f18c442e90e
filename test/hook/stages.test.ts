import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { project } from './agent.ts'

/** A conversation whose model says how many tokens it was given. */
async function filling(model = 'claude-sonnet-4-5', config = '') {
  const world = project()
  await world.stint('init', '--name', 'there', '--goal', 'Be there')
  await world.stint('log', '--key', 'the cookie is set twice')
  if (config !== '') writeFileSync(world.path('.sessions', 'config.yaml'), config)
  const agent = world.agent()
  let calls = 0
  const uses = (tokens: number) => {
    calls += 1
    const usage = {
      input_tokens: 10,
      cache_creation_input_tokens: 90,
      cache_read_input_tokens: tokens - 120,
      output_tokens: 20,
    }
    agent.write({
      type: 'assistant',
      message: {
        id: `m${calls}`,
        role: 'assistant',
        model,
        content: [{ type: 'text', text: 'ok' }],
        usage,
      },
    })
  }
  agent.received((await agent.start()).model)
  uses(20_000)
  await agent.prompt('Change the known file')
  await agent.edit('known.ts')
  await agent.stop('Changed.')
  const crossed = () => world.ofKind('budget.crossed').map((each) => [each.stage, each.tokens])
  return { ...world, agent, uses, crossed }
}

/** Of 200,000 tokens 167,000 may be used: 125,250, 141,950 and 150,300 are the stages. */
describe('a conversation that fills up', () => {
  test('is told of each stage once, where it is crossed, by whatever comes next', async () => {
    const { agent, uses, crossed, troubles } = await filling()
    uses(125_000)
    expect((await agent.run('ls')).person).toContain('smart zone')
    uses(125_249)
    expect((await agent.prompt('Look at the cookie code')).printed).toBe('')
    uses(125_250)
    const warned = await agent.run('ls')
    expect(warned.person).toContain('TOKEN WARNING - 75% Context Used')
    expect(warned.model).toContain('Compacts at: ~167,000')
    expect((await agent.run('ls')).printed).toBe('')
    uses(142_000)
    expect((await agent.prompt('Look at the session code')).model).toContain(
      'Record now what only this conversation knows',
    )
    uses(150_300)
    expect((await agent.edit('known.ts')).person).toContain('/clear')
    uses(160_000)
    for (const quiet of [
      await agent.run('ls'),
      await agent.prompt('Go into the details'),
      await agent.edit('known.ts'),
    ]) {
      expect(quiet.printed).toBe('')
    }
    expect(crossed()).toEqual([
      ['smart-zone', 125_000],
      [75, 125_250],
      [85, 142_000],
      [90, 150_300],
    ])
    expect(troubles()).toBe('')
  })

  test('that jumps over several is told of the furthest, and all count', async () => {
    const { agent, uses, crossed } = await filling()
    uses(155_000)
    const { person } = await agent.run('ls')
    expect(person.match(/TOKEN WARNING/g)).toHaveLength(1)
    expect(person).toContain('/clear')
    expect(crossed().map(([stage]) => stage)).toEqual(['smart-zone', 75, 85, 90])
  })

  test('is told again after a compaction', async () => {
    const { agent, uses, crossed } = await filling()
    uses(130_000)
    await agent.run('ls')
    await agent.send('PreCompact', { trigger: 'auto' })
    const { model } = await agent.start('compact')
    agent.compacts('auto')
    agent.received(model)
    uses(30_000)
    await agent.prompt('Look at the cookie code')
    await agent.stop('Looked.')
    uses(131_000)
    expect((await agent.run('ls')).person).toContain('TOKEN WARNING')
    expect(crossed().filter(([stage]) => stage === 75)).toEqual([
      [75, 130_000],
      [75, 131_000],
    ])
  })

  test.each([
    ['a million tokens', 'claude-opus-5', '', 725_250, '75%'],
    [
      'a window that the settings make smaller',
      'claude-sonnet-4-5',
      'budget: { window: 100000 }\n',
      50_250,
      '75%',
    ],
    [
      'stages of its own',
      'claude-sonnet-4-5',
      'budget: { stages: [50%], smart_zone: 1000000 }\n',
      83_500,
      '50%',
    ],
    [
      'stages in tokens',
      'claude-sonnet-4-5',
      'budget: { stages: [60000], smart_zone: 1000000 }\n',
      60_000,
      '35%',
    ],
  ])('knows %s', async (_, model, config, at, percent) => {
    const { agent, uses } = await filling(model, config)
    uses(at - 1)
    expect((await agent.run('ls')).person).not.toContain('TOKEN WARNING')
    uses(at)
    expect((await agent.run('ls')).person).toContain(`TOKEN WARNING - ${percent}`)
  })

  test('has its handoff drafted at the second stage, and made with the code at the third', async () => {
    const { agent, uses, ofKind, path, git, stint } = await filling()
    writeFileSync(path('uncommitted.ts'), 'precious')
    uses(142_000)
    await agent.prompt('Look at the session code')
    expect(ofKind('handoff.made')).toMatchObject([{ isDraft: true }])
    uses(151_000)
    await agent.run('ls')
    expect(ofKind('handoff.made')).toHaveLength(1)
    await agent.stop('Looked.')
    const [, made] = ofKind('handoff.made')
    expect(made).not.toHaveProperty('isDraft')
    const { commit } = made!.code as { commit: string }
    expect(git('show', `${commit}:uncommitted.ts`)).toBe('precious')
    expect((await stint('handoff', 'show')).stdout).toContain('the cookie is set twice')
    await agent.stop('And again.')
    expect(ofKind('handoff.made')).toHaveLength(2)
  })

  test('is handed over when the person says the word', async () => {
    const { agent, ofKind } = await filling()
    const { person, model } = await agent.prompt('handoff')
    expect(person).toContain('/clear')
    expect(model).toContain('handoff')
    expect(ofKind('handoff.made')).toHaveLength(1)
    await agent.prompt('the handoff module is broken')
    expect(ofKind('handoff.made')).toHaveLength(1)
  })

  test('leaves a handoff of which the next conversation is told, and which it can take up', async () => {
    const { agent, stint, path, ...world } = await filling()
    await agent.prompt('handoff')
    await agent.end('clear')
    const next = world.another()
    const { model } = await next.start('clear')
    expect(model).toContain('the cookie is set twice')
    expect(model).toContain('handoff 1 waits: stint handoff accept')
    const accepted = await stint('handoff', 'accept')
    expect(accepted.stdout).toContain('the cookie is set twice')
    expect((await world.another().start()).model).not.toContain('waits')
    expect(
      existsSync(
        path('.sessions', 'journal', readdirSync(path('.sessions', 'journal'))[0]!, 'handoffs'),
      ),
    ).toBe(true)
  })

  test('has its handoff made by the next conversation when it was cleared before anybody came to it', async () => {
    const { agent, uses, ofKind, another } = await filling()
    uses(151_000)
    await agent.run('ls')
    await agent.end('clear')
    expect(ofKind('handoff.made')).toEqual([])
    await another().start('clear')
    expect(ofKind('handoff.made')).toHaveLength(1)
  })

  test('has its handoff made where the session is named by the environment', async () => {
    const world = project()
    await world.stint('init', '--name', 'there')
    const agent = world.agent({ STINT_SESSION: 'there' })
    await agent.start()
    await agent.prompt('handoff')
    expect(world.ofKind('handoff.made')).toHaveLength(1)
  })

  test('keeps the handoff that was asked for when a line is crossed before it is made', async () => {
    const { agent, uses, ofKind } = await filling()
    agent.isFollowed = false
    await agent.prompt('handoff')
    uses(142_000)
    await agent.run('ls')
    agent.isFollowed = true
    await agent.stop('Done.')
    expect(ofKind('handoff.made')).toHaveLength(1)
    expect(ofKind('handoff.made')[0]).not.toHaveProperty('isDraft')
  })

  test('whose handoff cannot be made is not tried for ever', async () => {
    const { agent, ofKind, path, troubles } = await filling()
    agent.isFollowed = false
    await agent.prompt('handoff')
    writeFileSync(path('.sessions', 'config.yaml'), 'redact: { patterns: ["[0-9a-f]{64}"] }\n')
    agent.isFollowed = true
    for (let turn = 0; turn < 6; turn += 1) await agent.stop(`Turn ${turn}.`)
    expect(ofKind('handoff.made')).toEqual([])
    expect(ofKind('checkpoint.made').length).toBeLessThanOrEqual(3)
    expect(troubles()).toContain('handoff')
  })

  test('is told nothing of the window that is gone, before the transcript shows the new one', async () => {
    const { agent, uses, crossed } = await filling()
    uses(155_000)
    await agent.run('ls')
    const before = crossed().length
    await agent.start('compact')
    await agent.run('ls')
    await agent.run('ls')
    expect(crossed()).toHaveLength(before)
  })

  test('that is compacted before it was told is handed over all the same', async () => {
    const { agent, ofKind } = await filling()
    await agent.send('PreCompact', { trigger: 'auto' })
    expect(ofKind('handoff.made')).toMatchObject([{ reason: 'a compaction came first' }])
  })

  test('is asked to record nothing where that reminder is turned off', async () => {
    const { agent, uses } = await filling('claude-sonnet-4-5', 'nudges: { compaction: off }\n')
    uses(142_000)
    const { model } = await agent.run('ls')
    expect(model).toContain('85%')
    expect(model).not.toContain('Record now')
  })

  test('is told nothing by what delegated agents use', async () => {
    const { agent, crossed } = await filling()
    const usage = { input_tokens: 160_000, output_tokens: 20 }
    agent.write({
      type: 'assistant',
      isSidechain: true,
      message: { id: 'x', model: 'claude-sonnet-4-5', content: [], usage },
    })
    expect((await agent.run('ls')).printed).toBe('')
    expect(crossed()).toEqual([])
  })
})

describe('a command that prints very much', () => {
  test('is followed, the second time, by a way to print less', async () => {
    const { agent } = await filling()
    const much = 'a line of output\n'.repeat(2000)
    expect((await agent.run('cat log', much)).model).toBe('')
    expect((await agent.run('cat other', much)).model).toContain('stint digest')
    expect((await agent.run('cat third', much)).model).toBe('')
  })
})

describe('a repository', () => {
  test('is told of where a conversation begins, once it was looked at', async () => {
    const { agent, path, ...world } = await filling()
    writeFileSync(path('package.json'), '{"name":"shop","scripts":{"test":"vitest run"}}')
    world.git('add', 'package.json')
    world.git('commit', '-qm', 'a manifest')
    await agent.stop('Committed.')
    await agent.end()
    expect(readFileSync(path('.git', 'stint', 'project-context.json'), 'utf8')).toContain('vitest')
    expect((await world.another().start()).model).toContain('npm test')
  })
})
