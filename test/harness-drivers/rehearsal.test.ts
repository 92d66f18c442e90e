import {
  type AnyMessage,
  type ClientCapabilities,
  type SessionUpdate,
  client,
  methods,
} from '@agentclientprotocol/sdk'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Conversation, Harness, HarnessEvent } from '../../src/harness/contract/drive.ts'
import { serveRehearsal } from '../../src/harness/rehearsal/agent/serve-rehearsal.ts'
import { rehearsalHarness } from '../../src/harness/rehearsal/drive.ts'
import { parseScript, taskFromPrompt } from '../../src/harness/rehearsal/agent/script.ts'
import { StintError } from '../../src/journal/errors.ts'
import { program, terminal } from '../support/cli.ts'
import { turn } from '../contract/harness.ts'

const page = readFileSync(new URL('../../docs/rehearsal.md', import.meta.url), 'utf8')

/** A project with tasks, and the agent in it. */
async function stage(script: string | undefined, ...tasks: readonly string[]) {
  const { cwd, env, folder, git, stint } = terminal()
  for (const title of tasks) await stint('task', 'add', title)
  git('add', '-A')
  git('commit', '-qm', 'tasks', '--allow-empty')
  const file = join(folder, 'script.yml')
  if (script !== undefined) writeFileSync(file, script)
  const harness = rehearsalHarness({
    ...(script === undefined ? {} : { script: file }),
    state: join(folder, 'rehearsal-state'),
  })
  const conversation = (more: NodeJS.ProcessEnv = {}) => open(harness, cwd, { ...env, ...more })
  const statusOf = async (name: string) =>
    (await stint('task', 'show', name, '--json')).json<{ task?: Task } & Task>()
  return { cwd, git, conversation, statusOf, path: (name: string) => join(cwd, name) }
}

interface Task {
  readonly status: string
}

async function open(harness: Harness, cwd: string, env: NodeJS.ProcessEnv): Promise<Conversation> {
  const conversation = await harness.open({ cwd, env, permissions: 'all', allow: [] })
  onTestFinished(() => conversation.close())
  return conversation
}

function textIn(events: readonly HarnessEvent[]): string {
  return events.flatMap((event) => (event.type === 'text' ? [event.text] : [])).join('|')
}

describe('the rehearsal agent', () => {
  test('works a task without a script: writes, commits, counts tokens and reports it done', async () => {
    const { conversation, git, path, statusOf } = await stage(undefined, 'Fix the sweep')
    const events = await turn(
      await conversation(),
      '# Task fix-the-sweep: Fix the sweep\n\nDo it well.',
    )
    expect(readFileSync(path('rehearsal/fix-the-sweep.md'), 'utf8')).toContain('Fix the sweep')
    expect(git('log', '-1', '--format=%s').trim()).toBe('rehearse fix-the-sweep')
    expect(events).toContainEqual({ type: 'usage', context: 28_000, window: 200_000 })
    expect(events.filter((event) => event.type === 'tool' && event.status === 'failed')).toEqual([])
    expect(await statusOf('fix-the-sweep')).toMatchObject({ status: 'completed' })
  })

  test('reports a prompt without a task', async () => {
    const { conversation, git } = await stage(undefined)
    expect(textIn(await turn(await conversation(), 'Good morning'))).toBe(
      'There is no task in this prompt.',
    )
    expect(git('log', '-1', '--format=%s').trim()).toBe('tasks')
  })

  test('counts the turns of each task within a run, across processes and conversations', async () => {
    const script = 'tasks: { a: [[say: a1], [say: a2], [say: a3]], b: [[say: b1], [say: b2]] }'
    const { conversation } = await stage(script)
    const first = await conversation({ STINT_RUN: 'r1' })
    expect(textIn(await turn(first, '# Task a: A'))).toBe('a1')
    expect(textIn(await turn(first, '# Task b: B'))).toBe('b1')
    await first.close()
    const second = await conversation({ STINT_RUN: 'r1' })
    expect(textIn(await turn(second, '# Task a: A, again'))).toBe('a2')
    expect(textIn(await turn(second, '# Task a: A, again'))).toBe('a3')
    expect(textIn(await turn(second, '# Task a: A, again'))).toBe('a3')
    expect(textIn(await turn(await conversation({ STINT_RUN: 'r2' }), '# Task a: A'))).toBe('a1')
  })

  test('reports as the script states, even if it did nothing', async () => {
    const script =
      'tasks: { one: [{ lie: All done }], two: [{ blocked: No key }], three: [{ failed: Too hard }] }'
    const { conversation, git, statusOf } = await stage(script, 'One', 'Two', 'Three')
    const agent = await conversation()
    for (const name of ['one', 'two', 'three']) await turn(agent, `# Task ${name}: ${name}`)
    const statuses = [await statusOf('one'), await statusOf('two'), await statusOf('three')].map(
      ({ status }) => status,
    )
    expect(statuses).toEqual(['completed', 'blocked', 'failed'])
    expect(git('log', '-1', '--format=%s').trim()).toBe('tasks')
  })

  test('writes, appends, runs, waits and counts as scripted', async () => {
    const script = `
default:
  - - write: { path: deep/a.txt, text: "one\\n" }
    - append: { path: deep/a.txt, text: "two\\n" }
    - run: tr a-z A-Z < deep/a.txt > b.txt
    - wait: 10
    - usage: 500
start: 1000
window: 5000
`
    const { conversation, path } = await stage(script)
    const events = await turn(await conversation(), 'Go')
    expect(readFileSync(path('b.txt'), 'utf8')).toBe('ONE\nTWO\n')
    expect(events).toContainEqual({ type: 'usage', context: 1500, window: 5000 })
    expect(events).toContainEqual({
      type: 'usage',
      spent: { input: 0, cacheWritten: 1450, cacheRead: 0, output: 50 },
    })
  })

  test('reports no compaction to a client without support, but a smaller context to all', async () => {
    const knowing = await updatesFor(
      { session: { compaction: {} } },
      'default: [[{ usage: 9000 }, { compact: true }]]',
    )
    const plain = await updatesFor({}, 'default: [[{ usage: 9000 }, { compact: true }]]')
    const compactions = (updates: readonly SessionUpdate[]) =>
      updates.filter(({ sessionUpdate }) => sessionUpdate === 'compaction_update').length
    expect([compactions(plain), compactions(knowing)]).toEqual([0, 2])
    for (const updates of [plain, knowing])
      expect(updates.at(-1)).toEqual({ sessionUpdate: 'usage_update', used: 22_000, size: 200_000 })
  })
})

/** What one turn emits to a client with these capabilities. */
async function updatesFor(
  clientCapabilities: ClientCapabilities,
  script: string,
): Promise<readonly SessionUpdate[]> {
  const to = new TransformStream<AnyMessage>()
  const from = new TransformStream<AnyMessage>()
  const stream = { readable: to.readable, writable: from.writable }
  const served = serveRehearsal(stream, parseScript(script, 'script.yml'), {})
  const updates: SessionUpdate[] = []
  await client()
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params.update))
    .connectWith({ readable: from.readable, writable: to.writable }, async (agent) => {
      await agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities })
      const { sessionId } = await agent.request(methods.agent.session.new, {
        cwd: '/',
        mcpServers: [],
      })
      await agent.request(methods.agent.session.prompt, {
        sessionId,
        prompt: [{ type: 'text', text: 'Go' }],
      })
    })
  await to.writable.close()
  await served
  return updates
}

describe('a prompt', () => {
  test.each([
    ['# Task fix-it: Fix it: now\nmore', { name: 'fix-it', title: 'Fix it: now' }],
    ['# Task bd:12: Of beads', { name: 'bd:12', title: 'Of beads' }],
    ['# Task #7:', { name: '#7', title: '' }],
  ])('%j has a task', (prompt, task) => {
    expect(taskFromPrompt(prompt)).toEqual(task)
  })

  test.each(['Task x: y', '# Task: x', 'text\n# Task x: y', '# Task two words: y'])(
    '%j has no task',
    (prompt) => {
      expect(taskFromPrompt(prompt)).toBeUndefined()
    },
  )

  test('with a strange task name stays within the folder', async () => {
    const { conversation, path } = await stage(undefined)
    await turn(await conversation(), '# Task ../../escape: Out')
    expect(existsSync(path('rehearsal/escape.md'))).toBe(true)
  })
})

describe('a rehearsal script', () => {
  const mistakeIn = (text: string): string => {
    try {
      parseScript(text, 'script.yml')
    } catch (error) {
      if (error instanceof StintError) return error.message
      throw error
    }
    return 'none'
  }

  test.each([
    ['tasks:\n  a:\n    - - says: x', /^script\.yml:3: there is no act "says"; there are say, run/],
    ['task: {}', /^script\.yml:1: a script has no "task"/],
    ['default:\n  - - usage: many', /^script\.yml:2: usage is a whole number/],
    ['default:\n  - - usage: -1', /^script\.yml:2: usage is a whole number/],
    ['default:\n  - - write: a.txt', /^script\.yml:2: write has a path and a text/],
    ['default:\n  - - say: x\n      run: y', /^script\.yml:2: an act is one thing/],
    ['default:\n  - - hang', /^script\.yml:2: an act is one thing/],
    ['default:\n  - - hang: false', /^script\.yml:2: write "hang: true"/],
    ['default:\n  - - limit: soon', /^script\.yml:2: "soon" is no moment/],
    ['default: 3', /^script\.yml:1: default has a list of turns/],
    ['tasks: [a]', /^script\.yml:1: tasks are named/],
    ['- a', /^script\.yml:1: a script has tasks/],
    ['', /^script\.yml:1: a script has tasks/],
    ['window: 5\nstart: 9', /^script\.yml:1: it starts with 9 tokens in a window of 5/],
    ['tasks: {', /^script\.yml:1: /],
    [
      'default: [[say: a], [says: b]]\nwindow: x',
      /^script\.yml:1: .*\nscript\.yml:2: window is a whole number/,
    ],
  ])('with a mistake is refused with its line: %j', (text, message) => {
    expect(mistakeIn(text)).toMatch(message)
  })

  test('may be JSON, and may omit the list of turns when there is one turn', () => {
    const acts = [{ do: 'say', text: 'x' }]
    expect(parseScript('{"default": [[{"say": "x"}]]}', 's').default).toEqual([acts])
    expect(parseScript('default: [say: x]', 's').default).toEqual([acts])
    expect(parseScript('default: []', 's').default).toEqual([[]])
  })

  test('that is refused exits with 2 and prints the reason', () => {
    const { cwd, env } = terminal()
    writeFileSync(join(cwd, 'bad.yml'), 'default:\n  - - say\n')
    const run = (...args: readonly string[]) =>
      spawnSync(process.execPath, [program, 'rehearsal', ...args], {
        cwd,
        env,
        encoding: 'utf8',
        input: '',
      })
    expect(run('--script', 'bad.yml')).toMatchObject({
      status: 2,
      stdout: '',
      stderr: expect.stringContaining('bad.yml:2: an act is one thing'),
    })
    expect(run('--script', 'none.yml')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('there is no script'),
    })
    expect(JSON.parse(run('--script', 'bad.yml', '--check', '--json').stdout)).toMatchObject({
      error: { code: 'SCRIPT_INVALID' },
    })
    expect(run('--json').status).toBe(2)
    expect(run().status).toBe(0)
  })
})

describe('the documented example script', () => {
  const [, example] = /```yaml\n([^]*?)```/.exec(page)!

  test('behaves as documented', async () => {
    const { conversation, git, path, statusOf } = await stage(
      example,
      'Fix the sweep',
      'Write the docs',
    )
    const agent = await conversation({ STINT_RUN: '' })
    expect((await turn(agent, '# Task fix-the-sweep: Fix the sweep')).at(-1)).toMatchObject({
      how: 'completed',
    })
    expect(existsSync(path('sweep.txt'))).toBe(false)
    expect(await statusOf('fix-the-sweep')).toMatchObject({ status: 'completed' })
    await turn(agent, '# Task fix-the-sweep: Fix the sweep\n\nIt is not committed.')
    expect(git('log', '-1', '--format=%s').trim()).toBe('fix the sweep')
    expect((await turn(agent, '# Task write-the-docs: Write the docs')).at(-1)).toMatchObject({
      how: 'died',
    })
    const again = await conversation()
    expect((await turn(again, '# Task write-the-docs: Write the docs')).at(-1)).toMatchObject({
      how: 'completed',
    })
    expect(await statusOf('write-the-docs')).toMatchObject({ status: 'completed' })
  })
})
