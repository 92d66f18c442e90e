import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { serveWithoutHandler } from '../../src/hook/serve-hook.ts'
import { project } from './agent.ts'

/** A conversation in which one file has been edited, and recorded. */
async function settled() {
  const world = project()
  await world.stint('init', '--name', 'there')
  const agent = world.agent()
  agent.received((await agent.start()).model)
  agent.answers()
  await agent.prompt('Change the known file')
  await agent.edit('known.ts')
  const used = (tool_name: string, tool_input: object, more: object = {}) =>
    serveWithoutHandler(
      JSON.stringify({
        session_id: agent.conversation,
        cwd: world.cwd,
        hook_event_name: 'PostToolUse',
        tool_name,
        tool_input,
        ...more,
      }),
      agent.env,
    ) === ''
  const edit = (path: string, more: object = {}) =>
    used('Edit', { file_path: world.path(path) }, more)
  const run = (command: string) => used('Bash', { command })
  return { ...world, agent, edit, run, used }
}

describe('nothing new', () => {
  test('is another edit of a file that is recorded, and a command like any other', async () => {
    const { edit, run } = await settled()
    expect(edit('known.ts')).toBe(true)
    expect(run('ls -la src')).toBe(true)
  })

  test.each(['git commit -m x', 'stint log --progress x', 'gh pr merge'])(
    'is not "%s"',
    async (command) => {
      expect((await settled()).run(command)).toBe(false)
    },
  )

  test('is a test run, as long as there is a transcript to read its result from', async () => {
    const { run, agent } = await settled()
    expect(run('npm test')).toBe(true)
    rmSync(agent.transcript)
    expect(run('npm test')).toBe(false)
    expect(run('ls -la')).toBe(true)
  })

  test('is not another file, another tool, or what a delegated agent does', async () => {
    const { edit, used, path } = await settled()
    expect(edit('other.ts')).toBe(false)
    expect(used('TodoWrite', { todos: [] })).toBe(false)
    expect(edit('known.ts', { agent_id: 'a' })).toBe(false)
    expect(used('Edit', {})).toBe(false)
    expect(used('Edit', { file_path: path('known.ts') }, { session_id: '../x' })).toBe(false)
  })

  test('is nothing any more after a commit, a checkout or a change of the settings', async () => {
    const { edit, git, path, agent } = await settled()
    writeFileSync(path('x'), '')
    git('add', '.')
    git('commit', '-qm', 'by somebody')
    expect(edit('known.ts')).toBe(false)
    await agent.edit('known.ts')
    expect(edit('known.ts')).toBe(true)
    git('checkout', '-qb', 'other')
    expect(edit('known.ts')).toBe(false)
    git('checkout', '-q', 'main')
    mkdirSync(path('.sessions'), { recursive: true })
    appendFileSync(path('.sessions', 'config.yaml'), 'auto: off\n')
    expect(edit('known.ts')).toBe(false)
  })

  test('is not seen while something is owed: a context that has not arrived, a compaction, a reminder', async () => {
    const { edit, agent } = await settled()
    await agent.start('compact')
    expect(edit('known.ts')).toBe(false)
    const again = await settled()
    const seen = Array.from({ length: 4 }, () => again.edit('known.ts'))
    expect(seen).toEqual([true, true, true, false])
    expect((await again.agent.edit('known.ts')).model).toContain('stint log')
    expect(again.edit('known.ts')).toBe(true)
  })
})
