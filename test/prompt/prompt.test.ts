import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { conversationStore } from '../../src/history/store.ts'
import type { PromptHandle } from '../../src/run/prompt/prompt-events.ts'
import { PromptWorld } from './prompt-world.ts'

describe('a prompt', () => {
  test('opens a session, streams its answer and is recorded once; the next continues or starts fresh', async () => {
    const world = new PromptWorld()
    const work = [{ write: { path: 'b.txt', text: 'b\n' } }, { commit: 'add b' }, { usage: 500 }]
    world.script(
      [{ say: 'I look at the tests first.' }, ...work],
      [{ say: 'Two.' }],
      [{ say: 'Three.' }],
    )
    const ended = await world.prompt('Mend the flaky login test')
    expect(ended).toMatchObject({ how: 'completed', said: 'I look at the tests first.' })
    expect(ended.spend.input + ended.spend.cacheWritten).toBeGreaterThan(0)
    const { session, ...began } = world.of('prompt.started')[0]!
    expect(world.events[0]).toMatchObject({ kind: 'prompt.started', number: 1 })
    expect(began).toMatchObject({
      name: 'mend-the-flaky-login-test',
      isNewSession: true,
      isFresh: true,
    })
    expect(world.events.map(({ number }) => number)).toEqual(
      world.events.map((_, index) => index + 1),
    )
    expect(world.texts('text')).toBe('I look at the tests first.')
    expect(world.texts('delta')).toBe('I look at the tests ')
    const { conversation } = world.of('conversation.started')[0]!
    const kinds = [
      'session.opened',
      'conversation.joined',
      'request.made',
      'file.changed',
      'turn.ended',
      'commit.made',
    ]
    expect(world.project.journal().map(({ kind }) => kind)).toEqual([
      ...kinds,
      'conversation.ended',
    ])
    expect(new Set(world.project.journal().map(({ by }) => by))).toEqual(new Set(['prompt']))
    expect(world.project.entries('request.made')).toEqual([
      { text: 'Mend the flaky login test', conversation },
    ])
    expect(world.project.entries('turn.ended')).toMatchObject([
      { conversation, said: 'I look at the tests first.', usage: {} },
    ])

    expect((await world.prompt('Now its neighbours too')).said).toBe('Two.')
    expect(world.of('prompt.started')).toMatchObject([
      { session, isNewSession: false, isFresh: false },
    ])
    expect(world.of('conversation.started')).toMatchObject([{ conversation }])
    const stored = [...conversationStore(world.project.path('.sessions'), {}).read(conversation)]
    expect(stored.map(({ type }) => type).filter((type) => type !== 'message')).toEqual([
      'began',
      'ended',
      'ended',
    ])

    await world.prompt('And the docs', { isFresh: true })
    const [fresh] = world.of('conversation.started')
    expect(fresh!.conversation).not.toBe(conversation)
    expect(sentTexts(world, fresh!.conversation)).toMatch(
      /^<stint-session name="mend-the-flaky-login-test">[\s\S]*Now its neighbours too[\s\S]*<\/stint-session>\n\nAnd the docs$/,
    )
    expect(sentTexts(world, conversation)).not.toContain('<stint-session')
    expect(world.project.entries('context.given')).toMatchObject([
      { conversation: fresh!.conversation, event: 'prompt' },
    ])

    await world.prompt('Another thing', { isNew: true })
    expect(world.of('prompt.started')).toMatchObject([
      { name: 'another-thing', isNewSession: true },
    ])
    await world.prompt('Back to it', { session: 'mend-the-flaky-login-test' })
    expect(world.of('prompt.started')).toMatchObject([
      { session, isNewSession: false, isFresh: false },
    ])
    expect(world.project.entries('session.resumed', session)).toHaveLength(1)
  })

  test('starts a fresh conversation when the last one is missing, but not instead of a named one', async () => {
    const world = new PromptWorld()
    world.script([{ say: 'Here.' }])
    await world.prompt('Begin')
    const { conversation } = world.of('conversation.started')[0]!
    world.project.write(
      `.sessions/runs/prompts/${world.project.sessionId()}/${conversation}.json`,
      'null',
    )
    expect((await world.prompt('Go on in it', { conversation })).how).toBe('failed')
    expect((await world.prompt('Go on somewhere')).how).toBe('completed')
    expect(world.texts('message')).toContain(`conversation ${conversation} cannot be gone on with`)
    await expect(world.start('Go on', { conversation: 'no-such' })).rejects.toMatchObject({
      code: 'NO_CONVERSATION',
    })
  })

  test("is refused with contradicting options, in a run, and for a run's session", async () => {
    const world = new PromptWorld()
    await expect(world.start(' \n')).rejects.toMatchObject({ code: 'NO_TEXT' })
    await expect(world.start('x', { isNew: true, session: 'y' })).rejects.toMatchObject({
      code: 'SENSELESS',
    })
    await expect(world.start('x', { script: 'no-such.yaml' })).rejects.toMatchObject({
      code: 'HARNESS_MISSING',
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
    await expect(world.start('x', { session: 'of-a-run' })).rejects.toMatchObject({
      code: 'SESSION_OF_RUN',
    })
  })
})

describe('a permission request', () => {
  test('is decided one by one; with edits only by rules, with all never', async () => {
    const world = new PromptWorld()
    world.script([{ ask: 'echo yes > yes.txt' }, { ask: 'echo no > no.txt' }])
    world.onEvent = (event, handle) => {
      if (event.kind !== 'permission.asked') return
      const isFine = event.data.permission.command!.includes('yes')
      expect(handle().decide(event.data.request, isFine)).toBe(true)
      expect(handle().decide(event.data.request, isFine)).toBe(false)
    }
    await world.prompt('Write two files')
    expect(world.of('permission.settled').map(({ isAllowed }) => isAllowed)).toEqual([true, false])
    expect(world.project.names()).toContain('yes.txt')
    await world.prompt('Write the other', { permissions: 'edits' })
    expect(world.of('permission.asked')).toEqual([])
    expect(world.project.names()).not.toContain('no.txt')
    await world.prompt('Write it after all', { permissions: 'all' })
    expect(world.of('permission.asked')).toEqual([])
    expect(world.project.names()).toContain('no.txt')
  })
})

describe('a session', () => {
  test('answers one prompt at a time until interrupted, even while it waits for a permission', async () => {
    const world = new PromptWorld()
    world.script([{ ask: 'echo late > late.txt' }, { hang: true }], [{ say: 'Free.' }])
    const handle = await world.start('Ask me')
    await expect.poll(() => world.of('permission.asked').length).toBe(1)
    const busy = { code: 'SESSION_BUSY', message: expect.stringContaining(String(process.pid)) }
    await expect(world.beside().start('Me too')).rejects.toMatchObject(busy)
    await handle.interrupt()
    expect(await handle.ended).toMatchObject({ how: 'interrupted' })
    expect(world.of('permission.settled')).toMatchObject([{ isAllowed: false }])
    expect(world.project.names()).not.toContain('late.txt')
    const { conversation } = world.of('conversation.started')[0]!
    expect((await world.prompt('Now me')).said).toBe('Free.')
    expect(world.of('conversation.started')).toMatchObject([{ conversation }])
  })

  test('is opened once by two simultaneous first prompts; the other joins it', async () => {
    const world = new PromptWorld()
    world.script([{ hang: true }])
    const started = await Promise.allSettled([
      world.start('Fix the sweep'),
      world.beside().start('Mend the mop'),
    ])
    const { value: handle } = started.find(
      ({ status }) => status === 'fulfilled',
    ) as PromiseFulfilledResult<PromptHandle>
    // The other has joined the session, which is busy.
    expect(started.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(started.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'SESSION_BUSY' },
    })
    expect(world.project.names('.sessions', 'journal')).toEqual([handle.session])
    await handle.interrupt()
    world.script([{ say: 'Free.' }])
    expect((await world.prompt('Now me')).said).toBe('Free.')
    expect(world.of('prompt.started')).toMatchObject([
      { session: handle.session, isNewSession: false },
    ])
  })

  test('with a full conversation continues in a fresh one through a handoff, and reports it before', async () => {
    const world = new PromptWorld()
    world.project.write('.sessions/config.yaml', 'budget:\n  stages: [30000, 40000, 50000]\n')
    world.script(
      [{ usage: 25_000 }, { say: 'Nearly.' }],
      [{ usage: 20_000 }, { say: 'Full.' }],
      [{ say: 'Fresh.' }],
    )
    await world.prompt('Read everything')
    expect(world.of('stage').map(({ stage }) => stage)).toEqual([30_000, 40_000])
    const first = world.of('conversation.started')[0]!.conversation
    const full = await world.prompt('Read more')
    // Not cut off, and each threshold is crossed once.
    expect(full).toMatchObject({ how: 'completed', said: 'Full.' })
    expect(world.of('stage').map(({ stage }) => stage)).toEqual([50_000])
    expect(world.texts('message')).toContain('the next prompt goes on in a fresh conversation')
    expect((await world.prompt('And now')).said).toBe('Fresh.')
    const next = world.of('conversation.started')[0]!.conversation
    expect(next).not.toBe(first)
    expect(sentTexts(world, next)).toMatch(/<stint-handoff>[\s\S]*<\/stint-handoff>\n\nAnd now$/)
    expect(world.project.entries('handoff.made')).toMatchObject([{ conversation: first }])
    expect(world.project.entries('handoff.accepted')).toHaveLength(1)
  })

  test('is injected again, once, into a compacted conversation', async () => {
    const world = new PromptWorld()
    world.script([{ say: 'Long.' }, { compact: true }], [{ say: 'Short.' }])
    await world.prompt('Work a while')
    const { conversation } = world.of('conversation.started')[0]!
    await world.prompt('Go on with it')
    expect(sentTexts(world, conversation)).toMatch(
      /<stint-session name="work-a-while">[\s\S]*\n\nGo on with it$/,
    )
    await world.prompt('And on')
    expect(sentTexts(world, conversation).endsWith('\nAnd on')).toBe(true)
    expect(world.project.entries('context.compacted')).toMatchObject([{ conversation }])
    expect(world.project.entries('context.given')).toHaveLength(1)
  })
})

/** Everything the agent was sent in a conversation. */
function sentTexts(world: PromptWorld, conversation: string): string {
  const path = world.project.path(
    '.sessions',
    'runs',
    'prompts',
    world.project.sessionId(),
    `${conversation}.json`,
  )
  const { said } = JSON.parse(readFileSync(path, 'utf8')) as {
    said: { by: string; text: string }[]
  }
  return said
    .filter(({ by }) => by === 'user')
    .map(({ text }) => text)
    .join('\n')
}
