import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { project } from './agent.ts'

describe('the first edit of a conversation', () => {
  test('opens a session named after the branch, with the earlier requests', async () => {
    const world = project()
    world.git('checkout', '-qb', 'fix/login-loop')
    const agent = world.agent()
    await agent.start()
    await agent.prompt('Stop the login loop')
    expect(existsSync(world.path('.sessions'))).toBe(false)
    const { person } = await agent.edit('src/auth.ts')
    expect(person).toContain('fix-login-loop')
    const [opened] = world.ofKind('session.opened')
    expect(opened).toMatchObject({
      name: 'fix-login-loop',
      goal: 'Stop the login loop',
      git: { branch: 'fix/login-loop' },
    })
    expect(world.ofKind('request.made').map(({ text }) => text)).toEqual(['Stop the login loop'])
    expect(world.ofKind('file.changed')).toEqual([{ path: 'src/auth.ts' }])
    expect(world.git('status', '--porcelain', '--', '.sessions')).toBe('')
    expect(world.hookErrors()).toBe('')
  })

  test('gives the session a TL;DR although none was written', async () => {
    const world = project()
    const agent = world.agent()
    await agent.prompt('Stop the login loop')
    await agent.edit('src/auth.ts')
    await agent.prompt('Keep the old cookie name')
    const { tldr } = (await world.stint('view', '--json')).json<{ tldr: string }>()
    expect(tldr).toBe('Stop the login loop. Asked: Keep the old cookie name.')
  })

  test('on a main branch names the session after the request', async () => {
    const world = project()
    const agent = world.agent()
    await agent.prompt('Stop the login loop of the admin page')
    await agent.edit('src/auth.ts')
    expect(world.ofKind('session.opened')).toMatchObject([
      { name: 'stop-the-login-loop-of-the-admin-page' },
    ])
  })

  test('opens one session, however many edits arrive at once', async () => {
    const world = project()
    const agents = Array.from({ length: 6 }, () => world.agent())
    await Promise.all(agents.map((agent, index) => agent.edit(`src/${index}.ts`)))
    for (const agent of agents) await agent.edit('src/all.ts')
    expect(world.sessions()).toHaveLength(1)
    const changed = world.ofKind('file.changed').map(({ path }) => path)
    expect([...changed].toSorted()).toEqual([
      'src/0.ts',
      'src/1.ts',
      'src/2.ts',
      'src/3.ts',
      'src/4.ts',
      'src/5.ts',
      'src/all.ts',
    ])
  })

  test('is recorded in the session that is already open', async () => {
    const world = project()
    await world.stint('init', '--name', 'there')
    await world.agent().edit('src/auth.ts')
    expect(world.sessions()).toHaveLength(1)
    expect(world.ofKind('file.changed')).toEqual([{ path: 'src/auth.ts' }])
  })

  test('opens another session after closing only when there is a new request', async () => {
    const world = project()
    await world.stint('init', '--name', 'first')
    const agent = world.agent()
    await agent.start()
    await agent.edit('src/auth.ts')
    await world.stint('close', '--complete')
    await agent.edit('CHANGELOG.md')
    expect(world.sessions()).toHaveLength(1)
    await agent.prompt('Now make the search faster')
    await agent.edit('src/search.ts')
    expect(world.sessions()).toHaveLength(2)
  })

  test('opens none with auto: off, and asks once with auto: ask', async () => {
    const world = project()
    mkdirSync(world.path('.sessions'))
    writeFileSync(world.path('.sessions', 'config.yaml'), 'auto: off\n')
    expect((await world.agent().edit('src/auth.ts')).printed).toBe('')
    writeFileSync(world.path('.sessions', 'config.yaml'), 'auto: ask\n')
    const agent = world.agent()
    expect((await agent.edit('src/auth.ts')).model).toContain('stint init')
    expect((await agent.edit('src/other.ts')).printed).toBe('')
    expect(world.sessions()).toEqual([])
  })

  test('opens none outside a repository, unless the folder has sessions', async () => {
    const world = project({ git: false })
    expect((await world.agent().edit('notes.txt')).printed).toBe('')
    expect(existsSync(world.path('.sessions'))).toBe(false)
    mkdirSync(world.path('.sessions'))
    await world.agent().edit('notes.txt')
    expect(world.sessions()).toHaveLength(1)
  })
})

describe('a stint command that the agent runs', () => {
  test('uses the session of its conversation, not that of the branch', async () => {
    const world = project()
    await world.stint('init', '--name', 'alpha')
    const agent = world.agent()
    await agent.start()
    world.git('checkout', '-qb', 'other')
    await world.stint('init', '--name', 'beta')
    await world.run(['log', '--note', 'for alpha'], {
      env: { ...world.env, STINT_CONVERSATION: agent.conversation },
    })
    const [alpha, beta] = world.sessions()
    expect(world.ofKind('note.added', alpha)).toEqual([{ text: 'for alpha' }])
    expect(world.ofKind('note.added', beta)).toEqual([])
  })

  test('binds its conversation when it starts or resumes a session, even with clients that do not name it', async () => {
    const world = project()
    await world.stint('init', '--name', 'alpha')
    const agent = world.agent()
    await agent.start()
    world.git('checkout', '-qb', 'other')
    const { stdout } = await world.stint('init', '--name', 'beta')
    await agent.run('stint init --name beta', stdout)
    await agent.edit('src/b.ts')
    const [alpha, beta] = world.sessions()
    expect(world.ofKind('file.changed', beta)).toEqual([{ path: 'src/b.ts' }])
    expect(world.ofKind('file.changed', alpha)).toEqual([])
  })

  test('gets its conversation id from the env file that the harness reads', async () => {
    const world = project()
    const file = `${world.folder}/env.sh`
    const agent = world.agent({ CLAUDE_ENV_FILE: file })
    await agent.start()
    expect(readFileSync(file, 'utf8')).toBe(`export STINT_CONVERSATION=${agent.conversation}\n`)
  })
})

describe('a cleared conversation', () => {
  test('hands its session to the next conversation, whatever the branch', async () => {
    const world = project()
    await world.stint('init', '--name', 'alpha')
    const before = world.agent({ CLAUDE_PID: '4711' })
    await before.start()
    world.git('checkout', '-qb', 'other')
    await world.stint('init', '--name', 'beta')
    await before.end('clear')
    const after = world.agent({ CLAUDE_PID: '4711' })
    expect((await after.start('clear')).person).toContain('alpha')
    expect((await world.agent({ CLAUDE_PID: '4712' }).start()).person).toContain('beta')
  })
})
