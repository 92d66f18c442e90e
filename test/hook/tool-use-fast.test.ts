import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { serveWithoutHandler } from '../../src/hook/serve-hook.ts'
import { project } from './agent.ts'

/** A conversation with one edited and recorded file. */
async function upToDateProject() {
  const world = project()
  await world.stint('init', '--name', 'there')
  const agent = world.agent()
  agent.received((await agent.start()).model)
  agent.answers()
  await agent.prompt('Change the known file')
  await agent.edit('known.ts')
  const needsNoHandler = (tool_name: string, tool_input: object, more: object = {}) =>
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
    needsNoHandler('Edit', { file_path: world.path(path) }, more)
  const run = (command: string) => needsNoHandler('Bash', { command })
  return { ...world, agent, edit, run, needsNoHandler }
}

describe('a tool use', () => {
  test('needs no handler for another edit of a recorded file or an ordinary command', async () => {
    const { edit, run } = await upToDateProject()
    expect(edit('known.ts')).toBe(true)
    expect(run('ls -la src')).toBe(true)
  })

  test.each(['git commit -m x', 'stint log --progress x', 'gh pr merge'])(
    'needs the handler for "%s"',
    async (command) => {
      expect((await upToDateProject()).run(command)).toBe(false)
    },
  )

  test('needs no handler for a test run while there is a transcript to read the result from', async () => {
    const { run, agent } = await upToDateProject()
    expect(run('npm test')).toBe(true)
    rmSync(agent.transcript)
    expect(run('npm test')).toBe(false)
    expect(run('ls -la')).toBe(true)
  })

  test('needs the handler for another file, another tool or a subagent', async () => {
    const { edit, needsNoHandler, path } = await upToDateProject()
    expect(edit('other.ts')).toBe(false)
    expect(needsNoHandler('TodoWrite', { todos: [] })).toBe(false)
    expect(edit('known.ts', { agent_id: 'a' })).toBe(false)
    expect(needsNoHandler('Edit', {})).toBe(false)
    expect(needsNoHandler('Edit', { file_path: path('known.ts') }, { session_id: '../x' })).toBe(
      false,
    )
  })

  test('needs the handler after a commit, a checkout or a config change', async () => {
    const { edit, git, path, agent } = await upToDateProject()
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

  test('needs the handler while an injection, a compaction or a reminder is pending', async () => {
    const { edit, agent } = await upToDateProject()
    await agent.start('compact')
    expect(edit('known.ts')).toBe(false)
    const again = await upToDateProject()
    const seen = Array.from({ length: 4 }, () => again.edit('known.ts'))
    expect(seen).toEqual([true, true, true, false])
    expect((await again.agent.edit('known.ts')).model).toContain('stint log')
    expect(again.edit('known.ts')).toBe(true)
  })
})
