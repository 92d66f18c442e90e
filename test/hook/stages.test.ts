import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { project } from './agent.ts'

/** A conversation whose model reports its context size. */
async function fillingConversation(model = 'claude-sonnet-4-5', config = '') {
  const world = project()
  await world.stint('init', '--name', 'there', '--goal', 'Be there')
  await world.stint('log', '--key', 'the cookie is set twice')
  if (config !== '') writeFileSync(world.path('.sessions', 'config.yaml'), config)
  const agent = world.agent()
  let calls = 0
  const usesTokens = (tokens: number) => {
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
  usesTokens(20_000)
  await agent.prompt('Change the known file')
  await agent.edit('known.ts')
  await agent.stop('Changed.')
  const crossed = () => world.ofKind('budget.crossed').map((each) => [each.stage, each.tokens])
  return { ...world, agent, usesTokens, crossed }
}

/**
 * The compaction point of a 200,000 window is 167,000; the stages are 125,250, 141,950 and 150,300.
 */
describe('a conversation that fills up', () => {
  test('is warned once per stage, by the first event after crossing it', async () => {
    const { agent, usesTokens, crossed, hookErrors } = await fillingConversation()
    usesTokens(125_000)
    expect((await agent.run('ls')).person).toContain('smart zone')
    usesTokens(125_249)
    expect((await agent.prompt('Look at the cookie code')).printed).toBe('')
    usesTokens(125_250)
    const warned = await agent.run('ls')
    expect(warned.person).toContain('TOKEN WARNING - 75% Context Used')
    expect(warned.model).toContain('Compacts at: ~167,000')
    expect((await agent.run('ls')).printed).toBe('')
    usesTokens(142_000)
    expect((await agent.prompt('Look at the session code')).model).toContain(
      'Record now what only this conversation knows',
    )
    usesTokens(150_300)
    expect((await agent.edit('known.ts')).person).toContain('/clear')
    usesTokens(160_000)
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
    expect(hookErrors()).toBe('')
  })

  test('is warned of the furthest stage after a jump, and all crossed stages count', async () => {
    const { agent, usesTokens, crossed } = await fillingConversation()
    usesTokens(155_000)
    const { person } = await agent.run('ls')
    expect(person.match(/TOKEN WARNING/g)).toHaveLength(1)
    expect(person).toContain('/clear')
    expect(crossed().map(([stage]) => stage)).toEqual(['smart-zone', 75, 85, 90])
  })

  test('is warned again after a compaction', async () => {
    const { agent, usesTokens, crossed } = await fillingConversation()
    usesTokens(130_000)
    await agent.run('ls')
    await agent.send('PreCompact', { trigger: 'auto' })
    const { model } = await agent.start('compact')
    agent.compacts('auto')
    agent.received(model)
    usesTokens(30_000)
    await agent.prompt('Look at the cookie code')
    await agent.stop('Looked.')
    usesTokens(131_000)
    expect((await agent.run('ls')).person).toContain('TOKEN WARNING')
    expect(crossed().filter(([stage]) => stage === 75)).toEqual([
      [75, 130_000],
      [75, 131_000],
    ])
  })

  test.each([
    ['a million tokens', 'claude-opus-5', '', 725_250, '75%'],
    [
      'a smaller window from the settings',
      'claude-sonnet-4-5',
      'budget: { window: 100000 }\n',
      50_250,
      '75%',
    ],
    [
      'configured stages',
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
    const { agent, usesTokens } = await fillingConversation(model, config)
    usesTokens(at - 1)
    expect((await agent.run('ls')).person).not.toContain('TOKEN WARNING')
    usesTokens(at)
    expect((await agent.run('ls')).person).toContain(`TOKEN WARNING - ${percent}`)
  })

  test('gets a draft handoff at the second stage, and one with the code at the third', async () => {
    const { agent, usesTokens, ofKind, path, git, stint } = await fillingConversation()
    writeFileSync(path('uncommitted.ts'), 'precious')
    usesTokens(142_000)
    await agent.prompt('Look at the session code')
    expect(ofKind('handoff.made')).toMatchObject([{ isDraft: true }])
    usesTokens(151_000)
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

  test('gets a handoff when the user asks for one', async () => {
    const { agent, ofKind } = await fillingConversation()
    const { person, model } = await agent.prompt('handoff')
    expect(person).toContain('/clear')
    expect(model).toContain('handoff')
    expect(ofKind('handoff.made')).toHaveLength(1)
    await agent.prompt('the handoff module is broken')
    expect(ofKind('handoff.made')).toHaveLength(1)
  })

  test('leaves a handoff that the next conversation sees and can accept', async () => {
    const { agent, stint, path, ...world } = await fillingConversation()
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

  test('gets its handoff from the next conversation if it was cleared first', async () => {
    const { agent, usesTokens, ofKind, another } = await fillingConversation()
    usesTokens(151_000)
    await agent.run('ls')
    await agent.end('clear')
    expect(ofKind('handoff.made')).toEqual([])
    await another().start('clear')
    expect(ofKind('handoff.made')).toHaveLength(1)
  })

  test('gets its handoff when STINT_SESSION names the session', async () => {
    const world = project()
    await world.stint('init', '--name', 'there')
    const agent = world.agent({ STINT_SESSION: 'there' })
    await agent.start()
    await agent.prompt('handoff')
    expect(world.ofKind('handoff.made')).toHaveLength(1)
  })

  test('keeps a requested handoff when a stage is crossed before it is made', async () => {
    const { agent, usesTokens, ofKind } = await fillingConversation()
    agent.isFollowed = false
    await agent.prompt('handoff')
    usesTokens(142_000)
    await agent.run('ls')
    agent.isFollowed = true
    await agent.stop('Done.')
    expect(ofKind('handoff.made')).toHaveLength(1)
    expect(ofKind('handoff.made')[0]).not.toHaveProperty('isDraft')
  })

  test('stops retrying a handoff that cannot be made', async () => {
    const { agent, ofKind, path, hookErrors } = await fillingConversation()
    agent.isFollowed = false
    await agent.prompt('handoff')
    writeFileSync(path('.sessions', 'config.yaml'), 'redact: { patterns: ["[0-9a-f]{64}"] }\n')
    agent.isFollowed = true
    for (let turn = 0; turn < 6; turn += 1) await agent.stop(`Turn ${turn}.`)
    expect(ofKind('handoff.made')).toEqual([])
    expect(ofKind('checkpoint.made').length).toBeLessThanOrEqual(3)
    expect(hookErrors()).toContain('handoff')
  })

  test('gets no warning about the old window before the transcript shows the new one', async () => {
    const { agent, usesTokens, crossed } = await fillingConversation()
    usesTokens(155_000)
    await agent.run('ls')
    const before = crossed().length
    await agent.start('compact')
    await agent.run('ls')
    await agent.run('ls')
    expect(crossed()).toHaveLength(before)
  })

  test('gets a handoff even if it is compacted before a warning', async () => {
    const { agent, ofKind } = await fillingConversation()
    await agent.send('PreCompact', { trigger: 'auto' })
    expect(ofKind('handoff.made')).toMatchObject([{ reason: 'a compaction came first' }])
  })

  test('is not asked to record anything if that reminder is off', async () => {
    const { agent, usesTokens } = await fillingConversation(
      'claude-sonnet-4-5',
      'nudges: { compaction: off }\n',
    )
    usesTokens(142_000)
    const { model } = await agent.run('ls')
    expect(model).toContain('85%')
    expect(model).not.toContain('Record now')
  })

  test('gets no warning for tokens of subagents', async () => {
    const { agent, crossed } = await fillingConversation()
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

describe('a command with a very long output', () => {
  test('leads, the second time, to a hint about printing less', async () => {
    const { agent } = await fillingConversation()
    const much = 'a line of output\n'.repeat(2000)
    expect((await agent.run('cat log', much)).model).toBe('')
    expect((await agent.run('cat other', much)).model).toContain('stint digest')
    expect((await agent.run('cat third', much)).model).toBe('')
  })
})

describe('a repository', () => {
  test('is described to a new conversation once it was surveyed', async () => {
    const { agent, path, ...world } = await fillingConversation()
    writeFileSync(path('package.json'), '{"name":"shop","scripts":{"test":"vitest run"}}')
    world.git('add', 'package.json')
    world.git('commit', '-qm', 'a manifest')
    await agent.stop('Committed.')
    await agent.end()
    expect(readFileSync(path('.git', 'stint', 'project-context.json'), 'utf8')).toContain('vitest')
    expect((await world.another().start()).model).toContain('npm test')
  })
})
