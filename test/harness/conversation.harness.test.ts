import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { ClaudeWorld } from './claude-world.ts'
import { CLAUDE_VERSIONS, type ClaudeVersion } from './install.ts'

async function withSession(version: ClaudeVersion): Promise<ClaudeWorld> {
  const world = await ClaudeWorld.create(version)
  world.stint('init', '--name', 'fix-sweep-bug', '--goal', 'Fix the race in the sweep trigger')
  world.stint(
    'log',
    '--step',
    'Reproduce it',
    '--step',
    'Implement the fix',
    '--done',
    'Reproduce it',
  )
  world.stint('log', '--decision', 'Lock before check', '--rationale', 'simplest fix that holds')
  world.stint(
    'log',
    '--discovery',
    'chain_watcher must lock before sweeper',
    '--key',
    'Test: go test -run TestSweep ./itest',
  )
  world.stint(
    'log',
    '--blocker',
    'waiting for the fixture of 1.2',
    '--next',
    'add a regression test',
  )
  return world
}

const RECORDED = [
  'Fix the race in the sweep trigger',
  'Lock before check',
  'simplest fix that holds',
  'chain_watcher must lock before sweeper',
  'go test -run TestSweep ./itest',
  'waiting for the fixture of 1.2',
  'add a regression test',
  '1/2',
]

const missingIn = (text: string) => RECORDED.filter((part) => !text.includes(part))

describe.each(CLAUDE_VERSIONS)('Claude Code %s', (version) => {
  test('a new conversation gets the session state injected as recorded data', async () => {
    const world = await withSession(version)
    await world.ask('hello there')
    const [first] = world.stub.turns
    expect(missingIn(first!.text)).toEqual([])
    expect(first!.text).toMatch(/<stint-session[\s\S]*<\/stint-session>/)
    expect(world.troubles).toBe('')
  })

  test('without a session nothing is injected and nothing is written', async () => {
    const world = await ClaudeWorld.create(version)
    await world.ask('hello there')
    expect(world.stub.turns[0]!.text).not.toContain('stint-session')
    expect(existsSync(world.path('.sessions'))).toBe(false)
  })

  test('gets lost context injected again when resumed from another terminal', async () => {
    const world = await withSession(version)
    const { session_id: id } = await world.ask('hello there')
    world.stint('log', '--decision', 'Ship it behind a flag', '--rationale', 'can be turned off')
    await world.ask('and now?', '--resume', id)
    const last = world.stub.turns.at(-1)!
    expect(missingIn(last.text)).toEqual([])
    expect(last.text).toContain('Ship it behind a flag')
    expect(world.ofKind('conversation.joined').map(({ source }) => source)).toEqual([
      'startup',
      'resume',
    ])
  })

  // Old versions clear nothing without a terminal.
  test.skipIf(version === '2.0.77')(
    'cleared, it continues the same session under another conversation id',
    async () => {
      const world = await withSession(version)
      const talk = world.talk()
      const { session_id: before } = await talk.say('hello there')
      await talk.say('/clear')
      const { session_id: after } = await talk.say('and now?')
      await talk.end()
      expect(after).not.toBe(before)
      const last = world.stub.turns.at(-1)!
      expect(missingIn(last.text)).toEqual([])
      expect(last.body.messages.length).toBeLessThan(4)
      expect(world.ofKind('conversation.joined').map(({ conversation }) => conversation)).toContain(
        after,
      )
      expect(world.ofKind('conversation.ended')).toContainEqual({
        conversation: before,
        reason: 'clear',
      })
    },
  )

  test('forked, the fork works on the same session', async () => {
    const world = await withSession(version)
    const { session_id: id } = await world.ask('hello there')
    const { session_id: fork } = await world.ask(
      'try another way',
      '--resume',
      id,
      '--fork-session',
    )
    expect(fork).not.toBe(id)
    expect(missingIn(world.stub.turns.at(-1)!.text)).toEqual([])
    const joined = world.ofKind('conversation.joined').map(({ conversation }) => conversation)
    expect(joined).toContain(fork)
  })

  test('has the earlier entries when killed during a tool and resumed', async () => {
    const world = await withSession(version)
    const talk = world.talk()
    world.stub.script(
      { tools: [{ name: 'Write', input: { file_path: world.path('half.txt'), content: 'half' } }] },
      {
        tools: [
          {
            name: 'Bash',
            input: { command: `touch ${world.path('started')}; sleep 5`, description: 'long' },
          },
        ],
      },
    )
    talk.say('never use global locks for this').catch(() => undefined)
    await talk.until(({ subtype }) => subtype === 'init')
    const id = String(talk.messages.find(({ subtype }) => subtype === 'init')!.session_id)
    while (!existsSync(world.path('started'))) await new Promise((wake) => setTimeout(wake, 20))
    await talk.kill()
    await world.ask('where were we?', '--resume', id)
    const last = world.stub.turns.at(-1)!
    expect(missingIn(last.text)).toEqual([])
    await world.ask('hello in a new conversation')
    const fresh = world.stub.turns.at(-1)!
    expect(fresh.text).toContain('never use global locks for this')
    expect(fresh.text).toContain('half.txt')
  })

  test('two conversations on two sessions of one repository never mix', async () => {
    const world = await ClaudeWorld.create(version)
    world.stint('init', '--name', 'alpha', '--goal', 'Alpha goal')
    const first = world.talk()
    await first.say('work on the first')
    world.git('checkout', '-qb', 'other')
    world.stint('init', '--name', 'beta', '--goal', 'Beta goal')
    const second = world.talk()
    await second.say('work on the second')
    world.stub.script(
      { tools: [{ name: 'Write', input: { file_path: world.path('a.txt'), content: 'a' } }] },
      { text: 'wrote a' },
    )
    await first.say('write the file of the first')
    world.stub.script(
      { tools: [{ name: 'Write', input: { file_path: world.path('b.txt'), content: 'b' } }] },
      { text: 'wrote b' },
    )
    await second.say('write the file of the second')
    await first.end()
    await second.end()
    const [alpha, beta] = world.sessions
    expect(world.ofKind('file.changed', alpha)).toEqual([{ path: 'a.txt' }])
    expect(world.ofKind('file.changed', beta)).toEqual([{ path: 'b.txt' }])
    expect(world.ofKind('request.made', alpha).map(({ text }) => text)).toEqual([
      'work on the first',
      'write the file of the first',
    ])
    expect(world.ofKind('request.made', beta).map(({ text }) => text)).toEqual([
      'work on the second',
      'write the file of the second',
    ])
    const given = world.stub.turns.filter(({ text }) => text.includes('work on the second'))
    for (const { text } of given) expect(text).not.toContain('Alpha goal')
  })

  test('the transcript is copied into the project, without secrets', async () => {
    const world = await withSession(version)
    const secret = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`
    const { session_id: id } = await world.ask(`my token is ${secret}, remember the sweep`)
    const copy = readFileSync(world.path('.sessions', 'conversations', `${id}.jsonl`), 'utf8')
    expect(copy).toContain('remember the sweep')
    expect(copy).not.toContain(secret)
    expect(JSON.stringify(world.entries())).not.toContain(secret)
  })
})
