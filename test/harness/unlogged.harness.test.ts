import { writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { ClaudeWorld } from './claude-world.ts'
import { CLAUDE_VERSIONS, type ClaudeVersion } from './install.ts'

/**
 * A conversation of a user who has never typed a stint command, until the work is well under way.
 */
async function workedOn(version: ClaudeVersion) {
  const world = await ClaudeWorld.create(version)
  writeFileSync(world.path('package.json'), JSON.stringify({ scripts: { test: 'node test.js' } }))
  writeFileSync(world.path('test.js'), 'console.log("1 failing: sweeps twice"); process.exit(1)\n')
  world.git('add', '.')
  world.git('commit', '-qm', 'a failing test')
  world.git('checkout', '-qb', 'fix/double-sweep')
  const talk = world.talk()
  world.stub.script(
    {
      tools: [
        {
          name: 'Write',
          input: { file_path: world.path('sweeper.js'), content: 'exports.sweep = 1\n' },
        },
      ],
    },
    {
      tools: [
        {
          name: 'Bash',
          input: {
            command: 'git add sweeper.js && git commit -qm "Guard the sweep by a lock"',
            description: 'commit',
          },
        },
      ],
    },
    { tools: [{ name: 'Bash', input: { command: 'npm test', description: 'test' } }] },
    ...(version === '2.0.77'
      ? [
          {
            tools: [
              {
                name: 'TodoWrite',
                input: {
                  todos: [
                    { content: 'Guard the sweep', status: 'completed', activeForm: 'Guarding' },
                    {
                      content: 'Make the failing test pass',
                      status: 'in_progress',
                      activeForm: 'Making it pass',
                    },
                    {
                      content: 'Describe it in the changelog',
                      status: 'pending',
                      activeForm: 'Describing',
                    },
                  ],
                },
              },
            ],
          },
        ]
      : []),
    { text: 'The lock is in, one test still fails.' },
  )
  await talk.say('Stop the sweeper from sweeping twice')
  await talk.say("don't touch the migrations, and use the in-process lock, not Redis")
  return { world, talk }
}

function expectAllBefore(text: string, version: ClaudeVersion): void {
  const expected = [
    'Stop the sweeper from sweeping twice',
    "don't touch the migrations",
    'not Redis',
    'sweeper.js',
    'Guard the sweep by a lock',
    'npm test',
    '1 failing: sweeps twice',
    ...(version === '2.0.77' ? ['Make the failing test pass', 'Describe it in the changelog'] : []),
  ]
  expect(expected.filter((part) => !text.includes(part))).toEqual([])
}

describe.each(CLAUDE_VERSIONS)('with Claude Code %s, where nothing was logged', (version) => {
  test('the first edit opens a session named after the branch', async () => {
    const { world, talk } = await workedOn(version)
    await talk.end()
    expect(world.sessions).toHaveLength(1)
    expect(world.state()).toMatchObject({
      name: 'fix-double-sweep',
      goal: 'Stop the sweeper from sweeping twice',
    })
    expect(world.troubles).toBe('')
  })

  test('requests, rulings, edits, commits and failures are in the context after a compaction', async () => {
    const { world, talk } = await workedOn(version)
    await talk.say('/compact')
    await talk.say('what now?')
    expectAllBefore(world.stub.turns.at(-1)!.text, version)
    await talk.end()
    expect(world.state().compactions).toBe(1)
  })

  // Old versions clear nothing without a terminal.
  test.skipIf(version === '2.0.77')('they are after /clear', async () => {
    const { world, talk } = await workedOn(version)
    await talk.say('/clear')
    await talk.say('what now?')
    const last = world.stub.turns.at(-1)!
    expect(last.body.messages.length).toBeLessThan(4)
    expectAllBefore(last.text, version)
    await talk.end()
  })

  test('they are in a new conversation', async () => {
    const { world, talk } = await workedOn(version)
    await talk.end()
    await world.ask('what now?')
    expectAllBefore(world.stub.turns.at(-1)!.text, version)
  })
})
