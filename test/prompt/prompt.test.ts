import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { PromptWorld } from './prompt-world.ts'

describe('a prompt', () => {
  test('opens a session named after it, and is answered while it is listened to', async () => {
    const world = new PromptWorld()
    world.script([
      { say: 'I look at the tests first.' },
      { write: { path: 'b.txt', text: 'b\n' } },
      { commit: 'add b' },
      { usage: 500 },
    ])
    const ended = await world.prompt('Mend the flaky login test')
    expect(ended).toMatchObject({ how: 'completed', said: 'I look at the tests first.' })
    expect(ended.spend.input + ended.spend.cacheWritten).toBeGreaterThan(0)
    expect(world.of('prompt.started')).toMatchObject([
      { number: 1, name: 'mend-the-flaky-login-test', isNewSession: true, isFresh: true },
    ])
    expect(world.events.map(({ number }) => number)).toEqual(world.events.map((_, index) => index + 1))
    expect(world.of('text').map(({ text }) => text)).toEqual(['I look at the tests first.'])
    expect(
      world
        .of('delta')
        .map(({ text }) => text)
        .join(''),
    ).toBe('I look at the tests ')
    const [conversation] = world.of('conversation').map((event) => event.conversation)
    expect(world.kinds()).toEqual([
      'session.opened',
      'conversation.joined',
      'request.made',
      'file.changed',
      'turn.ended',
      'commit.made',
      'conversation.ended',
    ])
    expect(new Set(world.project.journal().map(({ by }) => by))).toEqual(new Set(['prompt']))
    expect(world.project.entries('request.made')).toEqual([{ text: 'Mend the flaky login test', conversation }])
    expect(world.project.entries('turn.ended')).toMatchObject([{ conversation, said: 'I look at the tests first.', usage: {} }])
  })

  test('goes on in the same conversation, and in a fresh one that is given the session where that is asked for', async () => {
    const world = new PromptWorld()
    world.script([{ say: 'One.' }], [{ say: 'Two.' }], [{ say: 'Three.' }])
    await world.prompt('Rename the parser')
    const [first] = world.of('conversation')
    const second = await world.prompt('Now its tests too')
    expect(second.said).toBe('Two.')
    expect(world.of('prompt.started')).toMatchObject([{ isNewSession: false, isFresh: false }])
    expect(world.of('conversation')).toMatchObject([{ conversation: first!.conversation }])
    await world.prompt('And the docs', { isFresh: true })
    const [third] = world.of('conversation')
    expect(third!.conversation).not.toBe(first!.conversation)
    const said = heard(world, third!.conversation)
    expect(said).toMatch(
      /<stint-session name="rename-the-parser">[\s\S]*Now its tests too[\s\S]*<\/stint-session>\n\nAnd the docs$/,
    )
    expect(heard(world, first!.conversation)).not.toContain('<stint-session')
    expect(world.project.entries('context.given')).toMatchObject([{ conversation: third!.conversation, event: 'prompt' }])
  })

  test('begins a fresh conversation where the one before is gone, but not in place of one that was named', async () => {
    const world = new PromptWorld()
    world.script([{ say: 'Here.' }])
    await world.prompt('Begin')
    const { conversation } = world.of('conversation')[0]!
    world.project.write(`.sessions/runs/prompts/${world.project.sessionId()}/${conversation}.json`, 'null')
    expect((await world.prompt('Go on in it', { conversation })).how).toBe('failed')
    expect((await world.prompt('Go on somewhere')).how).toBe('completed')
    expect(
      world
        .of('said')
        .map(({ text }) => text)
        .join(),
    ).toContain(`conversation ${conversation} cannot be gone on with`)
    await expect(world.start('Go on', { conversation: 'no-such' })).rejects.toMatchObject({ code: 'NO_CONVERSATION' })
  })

  test('sets the active session down for a new one, and goes on with a paused one that is named', async () => {
    const world = new PromptWorld()
    world.script([{ say: 'Done.' }])
    await world.prompt('First thing')
    const first = world.of('prompt.started')[0]!.session
    await world.prompt('Second thing', { isNew: true })
    expect(world.of('prompt.started')).toMatchObject([{ name: 'second-thing', isNewSession: true }])
    await world.prompt('Back to it', { session: 'first-thing' })
    expect(world.of('prompt.started')).toMatchObject([{ session: first, isNewSession: false, isFresh: false }])
    expect(world.kinds(first)).toContain('session.resumed')
  })
})

describe('what an agent may do', () => {
  test('is asked about, one request after another, and done or refused as it is decided', async () => {
    const world = new PromptWorld()
    world.script([{ ask: 'echo yes > yes.txt' }, { ask: 'echo no > no.txt' }])
    world.onEvent = (event, handle) => {
      if (event.type !== 'permission.asked') return
      const isFine = event.permission.command!.includes('yes')
      expect(handle().decide(event.request, isFine)).toBe(true)
      expect(handle().decide(event.request, isFine)).toBe(false)
    }
    await world.prompt('Write two files')
    expect(world.of('permission.settled').map(({ isAllowed }) => isAllowed)).toEqual([true, false])
    expect(world.project.names()).toContain('yes.txt')
    expect(world.project.names()).not.toContain('no.txt')
  })

  test('is refused unasked under edits where the rules do not allow it, and allowed under all', async () => {
    const world = new PromptWorld()
    world.script([{ ask: 'echo one > one.txt' }])
    await world.prompt('Try it', { permissions: 'edits' })
    expect(world.project.names()).not.toContain('one.txt')
    await world.prompt('Try it again', { permissions: 'all' })
    expect(world.project.names()).toContain('one.txt')
    expect(world.of('permission.asked')).toEqual([])
  })

  test('ends with an interrupt, also while it is waited for an answer, and the next prompt goes on', async () => {
    const world = new PromptWorld()
    world.script([{ say: 'May I?' }, { ask: 'echo late > late.txt' }, { hang: true }], [{ say: 'On.' }])
    const handle = await world.start('Ask me')
    await expect.poll(() => world.of('permission.asked').length, { timeout: 20_000 }).toBe(1)
    await handle.interrupt()
    expect(await handle.ended).toMatchObject({ type: 'prompt.ended', how: 'interrupted' })
    expect(world.of('permission.settled')).toMatchObject([{ isAllowed: false }])
    expect(world.project.names()).not.toContain('late.txt')
    const { conversation } = world.of('conversation')[0]!
    expect((await world.prompt('Go on then')).said).toBe('On.')
    expect(world.of('conversation')).toMatchObject([{ conversation }])
  })
})

describe('a session', () => {
  test('answers one prompt at a time; a second is told who has it', async () => {
    const world = new PromptWorld()
    world.script([{ hang: true }], [{ say: 'Free.' }])
    const handle = await world.start('Take long')
    await expect.poll(() => world.of('conversation').length, { timeout: 20_000 }).toBe(1)
    const other = new PromptWorldIn(world)
    await expect(other.start('Me too')).rejects.toMatchObject({
      code: 'SESSION_BUSY',
      message: expect.stringContaining(String(process.pid)),
    })
    await handle.interrupt()
    expect((await world.prompt('Now me')).said).toBe('Free.')
  })

  test('whose conversation is full goes on in a fresh one through a handoff, and says so before', async () => {
    const world = new PromptWorld()
    world.project.write('.sessions/config.yaml', 'budget:\n  stages: [30000, 40000, 50000]\n')
    world.script([{ usage: 25_000 }, { say: 'Nearly.' }], [{ usage: 20_000 }, { say: 'Full.' }], [{ say: 'Fresh.' }])
    await world.prompt('Read everything')
    expect(world.of('stage').map(({ stage }) => stage)).toEqual([30_000, 40_000])
    const first = world.of('conversation')[0]!.conversation
    const full = await world.prompt('Read more')
    // Not cut off, and each line is crossed once.
    expect(full).toMatchObject({ how: 'completed', said: 'Full.' })
    expect(world.of('stage').map(({ stage }) => stage)).toEqual([50_000])
    expect(
      world
        .of('said')
        .map(({ text }) => text)
        .join(),
    ).toContain('the next prompt goes on in a fresh conversation')
    expect((await world.prompt('And now')).said).toBe('Fresh.')
    const next = world.of('conversation')[0]!.conversation
    expect(next).not.toBe(first)
    expect(heard(world, next)).toMatch(/<stint-handoff>[\s\S]*<\/stint-handoff>\n\nAnd now$/)
    expect(world.project.entries('handoff.made')).toMatchObject([{ conversation: first }])
    expect(world.project.entries('handoff.accepted')).toHaveLength(1)
  })

  test('is given again to a conversation that was compacted', async () => {
    const world = new PromptWorld()
    world.script([{ say: 'Long.' }, { compact: true }], [{ say: 'Short.' }], [{ say: 'Again.' }])
    await world.prompt('Work a while')
    const { conversation } = world.of('conversation')[0]!
    await world.prompt('Go on with it')
    expect(heard(world, conversation)).toMatch(/<stint-session name="work-a-while">[\s\S]*\n\nGo on with it$/)
    await world.prompt('And on')
    expect(heard(world, conversation).endsWith('\nAnd on')).toBe(true)
    expect(world.project.entries('context.compacted')).toMatchObject([{ conversation }])
    expect(world.project.entries('context.given')).toHaveLength(1)
  })

  test('of a run is not prompted from elsewhere, and no agent of a run prompts another', async () => {
    const world = new PromptWorld()
    await expect(world.start(' \n')).rejects.toMatchObject({ code: 'NO_TEXT' })
    await expect(world.start('x', { isNew: true, session: 'y' })).rejects.toMatchObject({ code: 'SENSELESS' })
    await expect(world.start('x', { harness: 'nobody', script: undefined as never })).rejects.toMatchObject({
      code: 'NO_HARNESS',
    })
    process.env['STINT_RUN'] = 'x'
    try {
      await expect(world.start('x')).rejects.toMatchObject({ code: 'IN_RUN' })
    } finally {
      delete process.env['STINT_RUN']
    }
    expect(world.project.names('.sessions', 'journal')).toEqual([])
    const worktree = join(process.env['STINT_STATE_HOME']!, 'worktrees', 'of-a-run')
    world.project.git('worktree', 'add', '-q', '-b', 'of-a-run', worktree)
    await world.project.run((project) => project.init({ name: 'of-a-run' }), { cwd: worktree })
    await expect(world.start('x', { session: 'of-a-run' })).rejects.toMatchObject({ code: 'SESSION_OF_RUN' })
  })
})

/** What the agent was told in a conversation, all of it. */
function heard(world: PromptWorld, conversation: string): string {
  const path = world.project.path('.sessions', 'runs', 'prompts', world.project.sessionId(), `${conversation}.json`)
  const { said } = JSON.parse(readFileSync(join(path), 'utf8')) as { said: { by: string; text: string }[] }
  return said
    .filter(({ by }) => by === 'user')
    .map(({ text }) => text)
    .join('\n')
}

/** Somebody else in the same project. */
class PromptWorldIn extends PromptWorld {
  constructor(world: PromptWorld) {
    super()
    Object.assign(this, { project: world.project })
  }
}
