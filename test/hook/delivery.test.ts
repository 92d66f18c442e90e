import { describe, expect, test } from 'vitest'
import { findMarker } from '../../src/context/fence.ts'
import { project } from './agent.ts'

async function withSession() {
  const world = project()
  await world.stint('init', '--name', 'fix-login', '--goal', 'Stop the login loop')
  await world.stint(
    'log',
    '--key',
    'the cookie is set twice',
    '--step',
    'Find it',
    '--blocker',
    'no staging',
  )
  return world
}

describe('a new conversation', () => {
  test('gets the session context, and the user a status line', async () => {
    const world = await withSession()
    const { model, person } = await world.agent().start()
    expect(model).toContain('the cookie is set twice')
    expect(model).toContain('Stop the login loop')
    expect(findMarker(model)).toMatch(/^[0-9a-f]{8}$/)
    expect(person).toContain('fix-login')
    expect(person).not.toContain('\n')
  })

  test('gets nothing without a session', async () => {
    const world = project()
    expect((await world.agent().start()).printed).toBe('')
    expect(world.sessions()).toEqual([])
  })

  test('gets nothing about a session on another branch', async () => {
    const world = await withSession()
    world.git('checkout', '-qb', 'elsewhere')
    expect((await world.agent().start()).printed).toBe('')
  })

  test('tells the user about a paused session, and the model nothing', async () => {
    const world = await withSession()
    await world.stint('pause')
    const { model, person } = await world.agent().start()
    expect(model).toBe('')
    expect(person).toContain('paused')
  })

  test('asks the user to choose when several sessions are active', async () => {
    const world = await withSession()
    await world.stint('close', '--complete')
    await world.stint('init', '--name', 'second')
    await world.stint('reopen', 'fix-login')
    const { model, person } = await world.agent().start()
    expect(model).toBe('')
    expect(person).toContain('fix-login, second')
  })
})

describe('injected context', () => {
  test('that the transcript shows is not injected again', async () => {
    const world = await withSession()
    const agent = world.agent()
    const { model } = await agent.start()
    agent.received(model)
    agent.answers()
    expect((await agent.prompt('look at the cookie code')).model).toBe('')
    expect((await agent.prompt('continue')).model).toBe('')
  })

  test('missing from the transcript after the model responded is injected by the next hook', async () => {
    const world = await withSession()
    const agent = world.agent()
    await agent.start()
    agent.write({ type: 'attachment', attachment: { type: 'environment' } })
    agent.answers()
    expect((await agent.prompt('look at the cookie code')).model).toContain(
      'the cookie is set twice',
    )
    expect(world.ofKind('context.given').map(({ event, why }) => `${event}: ${why}`)).toEqual([
      'SessionStart: startup',
      'UserPromptSubmit: did not arrive',
    ])
  })

  test('is injected by a tool hook when the turn continues', async () => {
    const world = await withSession()
    const agent = world.agent()
    await agent.start()
    agent.write({ type: 'attachment', attachment: { type: 'environment' } })
    agent.answers()
    expect((await agent.run('ls')).model).toContain('the cookie is set twice')
  })

  test('is not judged before the model has responded', async () => {
    const world = await withSession()
    const agent = world.agent()
    await agent.start()
    agent.write({ type: 'attachment', attachment: { type: 'environment' } })
    expect((await agent.prompt('look at the cookie code')).model).toBe('')
  })

  test('is not injected a fourth time', async () => {
    const world = await withSession()
    const agent = world.agent()
    await agent.start()
    for (let time = 0; time < 5; time += 1) {
      agent.write({ type: 'attachment', attachment: { type: 'environment' } })
      agent.answers()
      await agent.prompt(`look at the cookie code, part ${time}`)
    }
    expect(world.ofKind('context.given')).toHaveLength(3)
  })

  test('from before a compaction does not count as delivered after it', async () => {
    const world = await withSession()
    const agent = world.agent()
    const { model } = await agent.start()
    agent.received(model)
    agent.answers()
    await agent.send('PreCompact', { trigger: 'auto' })
    await agent.start('compact')
    agent.compacts()
    agent.answers()
    expect((await agent.prompt('look at the cookie code')).model).toContain(
      'the cookie is set twice',
    )
  })

  test('is byte-identical while nothing changes', async () => {
    const world = await withSession()
    const first = await world.agent().start()
    const second = await world.agent().start()
    expect(second.model).toBe(first.model)
  })

  test('is listed by view --delivery with the transcript line that shows it', async () => {
    const world = await withSession()
    const agent = world.agent()
    const { model } = await agent.start()
    expect((await world.stint('view', '--delivery')).stdout).toContain('✗')
    agent.received(model)
    const { stdout } = await world.stint('view', '--delivery')
    expect(stdout).toContain('1 of 1 arrived')
    expect(stdout).toContain(`✓ line 1 of ${agent.transcript}`)
    const { deliveries } = (await world.stint('view', '--delivery', '--json')).json<{
      deliveries: unknown[]
    }>()
    expect(deliveries).toMatchObject([{ event: 'SessionStart', evidence: { line: 1 } }])
  })
})

describe('after a compaction', () => {
  test('undelivered context is injected with the very next prompt', async () => {
    const world = await withSession()
    const agent = world.agent()
    agent.received((await agent.start()).model)
    agent.answers()
    await agent.prompt('look at the cookie code')
    await agent.start('compact')
    agent.compacts()
    agent.write({ type: 'attachment', attachment: { type: 'environment' } })
    expect((await agent.prompt('look at the other code')).model).toContain(
      'the cookie is set twice',
    )
  })

  test('context injected with a prompt is not injected again before the model has responded', async () => {
    const world = await withSession()
    const agent = world.agent()
    agent.received((await agent.start()).model)
    agent.answers()
    await agent.prompt('look at the cookie code')
    await agent.start('compact')
    agent.compacts()
    agent.write({ type: 'attachment', attachment: { type: 'environment' } })
    expect((await agent.prompt('look at the other code')).model).not.toBe('')
    expect((await agent.run('ls')).model).toBe('')
  })

  test('delivered context is not injected again', async () => {
    const world = await withSession()
    const agent = world.agent()
    agent.received((await agent.start()).model)
    agent.answers()
    await agent.prompt('look at the cookie code')
    const { model } = await agent.start('compact')
    agent.compacts()
    agent.received(model)
    expect((await agent.prompt('look at the other code')).model).toBe('')
  })

  test('the boundary is found behind megabytes of output', async () => {
    const world = await withSession()
    const agent = world.agent()
    agent.received((await agent.start()).model)
    agent.answers()
    await agent.prompt('look at the cookie code')
    const picture = { type: 'tool_result', tool_use_id: 't', content: 'x'.repeat(1_500_000) }
    for (let count = 0; count < 12; count += 1)
      agent.write({ type: 'user', message: { role: 'user', content: [picture] } })
    await agent.start('compact')
    agent.compacts()
    agent.answers()
    expect((await agent.prompt('look at the other code')).model).toContain(
      'the cookie is set twice',
    )
    expect(world.ofKind('context.compacted')).toHaveLength(1)
  })
})

describe('where a client does not record hook output', () => {
  test('the context is injected once more after a compaction, and not otherwise', async () => {
    const world = await withSession()
    const agent = world.agent()
    await agent.start()
    agent.answers()
    expect((await agent.prompt('look at the cookie code')).model).toBe('')
    await agent.start('compact')
    agent.compacts()
    agent.answers()
    expect((await agent.prompt('look at the other code')).model).toContain(
      'the cookie is set twice',
    )
    agent.answers()
    expect((await agent.prompt('look at the third code')).model).toBe('')
  })
})

describe('a resumed conversation', () => {
  test('does not get again what its history already has', async () => {
    const world = await withSession()
    const agent = world.agent()
    agent.received((await agent.start()).model)
    agent.answers()
    await agent.prompt('look at the cookie code')
    await agent.stop('I looked.')
    await agent.end()
    const { model, person } = await agent.start('resume')
    expect(model).toBe('')
    expect(person).toContain('fix-login')
  })

  test('gets the context on every resume after a compaction', async () => {
    const world = await withSession()
    const agent = world.agent()
    agent.received((await agent.start()).model)
    agent.answers()
    for (let time = 1; time <= 5; time += 1) {
      await agent.end()
      await world.stint('log', '--decision', `Choice ${time}`, '--rationale', 'so it is')
      const { model } = await agent.start('resume')
      expect(model).toContain(`Choice ${time}`)
      agent.received(model)
      agent.answers()
      await agent.stop('ok')
    }
  })

  test.each([
    ['--progress', 'Moved the handler'],
    ['--blocker', 'no staging', '--resolved'],
    ['--note', 'Ask Ann'],
  ])('gets the context again after %s', async (...flags) => {
    const world = await withSession()
    const agent = world.agent()
    agent.received((await agent.start()).model)
    agent.answers()
    await agent.stop('ok')
    await agent.end()
    await world.stint('log', ...flags)
    expect((await agent.start('resume')).model).not.toBe('')
  })

  test('gets the context again when another conversation worked on the session', async () => {
    const world = await withSession()
    const agent = world.agent()
    agent.received((await agent.start()).model)
    agent.answers()
    await agent.prompt('look at the cookie code')
    await agent.end()
    await world.stint('log', '--decision', 'Drop the cookie', '--rationale', 'it is not needed')
    expect((await agent.start('resume')).model).toContain('Drop the cookie')
  })
})

describe('"continue"', () => {
  test('resumes the paused session', async () => {
    const world = await withSession()
    await world.stint('pause')
    const agent = world.agent()
    await agent.start()
    expect((await agent.prompt('continue where we left off')).model).toContain(
      'the cookie is set twice',
    )
    expect((await world.agent().start()).model).toContain('the cookie is set twice')
    expect((await world.stint('view', '--json')).json<{ status: string }>().status).toBe('active')
  })

  test.each(['discontinue the old API', 'yes', 'add a continue statement to the loop'])(
    'is not meant by "%s"',
    async (prompt) => {
      const world = await withSession()
      await world.stint('pause')
      const agent = world.agent()
      await agent.start()
      expect((await agent.prompt(prompt)).model).toBe('')
    },
  )
})
