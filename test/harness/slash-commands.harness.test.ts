import { readFileSync, readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { ClaudeWorld } from './claude-world.ts'
import { CLAUDE_VERSIONS } from './install.ts'

describe.each(CLAUDE_VERSIONS)('the slash commands in Claude Code %s', (version) => {
  test('each run stint, and the output reaches the model', async () => {
    const world = await ClaudeWorld.create(version)
    world.stint('task', 'add', 'Fix the sweep trigger', '--priority', 'P1')
    const talk = world.talk()
    const after = async (command: string) => {
      await talk.say(command)
      return world.stub.turns.at(-1)!.text
    }
    expect(await after('/task-next')).toContain('fix-the-sweep-trigger')
    expect(await after('/session-init --task=fix-the-sweep-trigger')).toContain(
      'Session Initialized: fix-the-sweep-trigger',
    )
    expect(
      await after('/session-log --progress "Found the root cause" --next "Add a test"'),
    ).toContain('Found the root cause')
    const decided = await after(
      '/session-log --decision "Using a mutex" --rationale="it is simpler than channels"',
    )
    expect(decided).toContain('Using a mutex')
    expect(await after('/session-checkpoint --note="Before the refactor"')).toContain(
      'Before the refactor',
    )
    expect(await after('/session-handoff --reason="The context is nearly full"')).toContain(
      'Handoff 1: fix-the-sweep-trigger',
    )
    expect(await after('/session-view --decisions')).toContain('it is simpler than channels')
    expect(await after('/session-list')).toContain('fix-the-sweep-trigger')
    expect(await after('/session-pause --note="Lunch"')).toContain('Lunch')
    expect(await after('/session-resume')).toContain('Resuming Session: fix-the-sweep-trigger')
    expect(await after('/session-close --complete')).toContain('Session Completed')
    await talk.end()
    expect(world.ofKind('decision.made')).toEqual([
      { title: 'Using a mutex', rationale: 'it is simpler than channels' },
    ])
    expect(world.ofKind('session.closed')).toHaveLength(1)
    expect(world.troubles).toBe('')
  })

  test('that cannot run print the reason', async () => {
    const world = await ClaudeWorld.create(version)
    const talk = world.talk()
    await talk.say('/session-log --progress "Nothing is open here"')
    expect(world.stub.turns.at(-1)!.text).toContain('no session is active here')
    await talk.end()
  })

  test('that start a session bind the conversation to it', async () => {
    const world = await ClaudeWorld.create(version)
    const talk = world.talk()
    const { session_id: id } = await talk.say('/session-init --name=bound --goal="Be bound"')
    await talk.say('remember that we use tabs, not spaces')
    await talk.end()
    const [session] = world.sessions
    expect(world.ofKind('request.made').map(({ text }) => text)).toContain(
      'remember that we use tabs, not spaces',
    )
    const notes = readFileSync(world.path('.git', 'stint', 'conversations', `${id}.json`), 'utf8')
    expect(JSON.parse(notes)).toMatchObject({ session })
    expect(readdirSync(world.path('.claude', 'commands'))).toContain('session-init.md')
  })
})

describe.each(CLAUDE_VERSIONS)('the example workflow with Claude Code %s', (version) => {
  test('goes from a task through a compaction and a second day to its end', async () => {
    const world = await ClaudeWorld.create(version)
    world.stint('task', 'add', 'Fix sweep bug', '--priority', 'P1', '--size', 'M')

    // Day 1
    const monday = world.talk()
    await monday.say('/task-next')
    expect(world.stub.turns.at(-1)!.text).toContain('fix-sweep-bug')
    await monday.say('/session-init --task=fix-sweep-bug')
    world.stub.script(
      {
        tools: [
          {
            name: 'Bash',
            input: {
              command:
                'stint log --progress "Found root cause: race condition in sweeper.go:245" --discovery "State check happens before lock acquisition"',
              description: 'journal',
            },
          },
        ],
      },
      { text: 'The race is in sweeper.go:245.' },
    )
    await monday.say("Let's investigate the bug")
    await monday.say('/compact')
    expect(world.stub.summaries.at(-1)!.text).toContain('Pre-Compaction Checkpoint')
    expect(world.stub.summaries.at(-1)!.text).toContain('race condition in sweeper.go:245')
    await monday.say('thanks, that is enough for today')
    await monday.end()

    // Day 2
    const tuesday = world.talk()
    await tuesday.say('continue where we left off')
    const resumed = world.stub.turns.at(-1)!.text
    expect(resumed).toContain('race condition in sweeper.go:245')
    expect(resumed).toContain('State check happens before lock acquisition')
    await tuesday.say('/session-resume')
    expect(world.stub.turns.at(-1)!.text).toContain('Where You Left Off')

    await tuesday.say('/session-close --complete')
    await tuesday.end()
    const closing = world.stub.turns.at(-1)!.text
    expect(closing).toContain('Session Completed: fix-sweep-bug')
    expect(closing).toMatch(/Compactions: 1/)
    expect(world.stint('task', 'show', 'fix-sweep-bug')).toContain('completed')
  })
})
