import { writeFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { program } from '../support/cli.ts'
import { project } from './agent.ts'

describe('a test run in a digest', () => {
  test.each([[[]], [['--json']]])(
    'is recorded once, by the digest and not by the hook %j',
    async (flags) => {
      const world = project()
      await world.stint('init', '--name', 'work')
      writeFileSync(
        world.path('package.json'),
        JSON.stringify({ name: 'x', scripts: { test: 'echo "      Tests  3 passed (3)"' } }),
      )
      const agent = world.agent()
      await agent.start()
      const args = ['digest', ...flags, '--', 'npm', 'test']
      const env = { ...world.env, STINT_CONVERSATION: agent.conversation }
      const ran = spawnSync(process.execPath, [program, ...args], {
        cwd: world.cwd,
        env,
        encoding: 'utf8',
      })
      await agent.run(`stint ${args.join(' ')}`, ran.stdout)
      const tests = world.ofKind('test.ran')
      expect(tests.map(({ command, passed, summary }) => ({ command, passed, summary }))).toEqual([
        { command: 'npm test', passed: true, summary: 'Tests 3 passed (3)' },
      ])
      expect(tests[0]).toMatchObject({ conversation: agent.conversation })
    },
  )

  test('is recorded by the hook if the digest could not record it', async () => {
    const world = project()
    await world.stint('init', '--name', 'work')
    const agent = world.agent()
    await agent.start()
    const printed = [
      'npm test: exit 0 after 1.0 s; 9 lines, 200 B',
      'Test Files 1 passed (1), Tests 3 passed (3)',
      'all of it: stint digest show 1a2b3c4d',
    ]
    await agent.run(
      'stint digest --tokens 200 --label "all of them" -- npm test',
      printed.join('\n'),
    )
    expect(world.ofKind('test.ran')).toMatchObject([
      { command: 'npm test', passed: true, summary: 'Test Files 1 passed (1), Tests 3 passed (3)' },
    ])
  })
})
