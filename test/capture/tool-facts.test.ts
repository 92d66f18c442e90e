import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readEvent } from '../../src/harness/claude/hooks/protocol.ts'
import { readToolFacts } from '../../src/harness/claude/hooks/tool-facts.ts'
import type { ToolUsedEvent } from '../../src/harness/contract/hooks.ts'
import { recorded } from './transcript.ts'

const ROOT = '/home/dev/project'

function used(tool: string, input: object, response?: unknown, more: object = {}): ToolUsedEvent {
  return {
    harness: 'claude',
    kind: 'toolUsed',
    name: 'PostToolUse',
    conversation: 'c0ffee',
    cwd: ROOT,
    tool,
    input: input as never,
    response,
    ...more,
  }
}

const facts = (tool: string, input: object, response?: unknown, more?: object) =>
  readToolFacts(used(tool, input, response, more), ROOT)
const bash = (
  command: string,
  response: unknown = { stdout: '', stderr: '', interrupted: false },
  input: object = {},
) => facts('Bash', { command, ...input }, response)

describe('an edit', () => {
  test.each([
    ['Edit', { file_path: `${ROOT}/src/a.ts` }, 'src/a.ts'],
    ['MultiEdit', { file_path: `${ROOT}/src/a.ts` }, 'src/a.ts'],
    ['Write', { file_path: `${ROOT}/new file.md` }, 'new file.md'],
    ['NotebookEdit', { notebook_path: `${ROOT}/a.ipynb` }, 'a.ipynb'],
    ['Write', { file_path: '/etc/hosts' }, '/etc/hosts'],
    ['Write', { file_path: '/home/dev/project-2/a' }, '/home/dev/project-2/a'],
    ['Write', { file_path: `${ROOT}/../other/a` }, '/home/dev/other/a'],
    ['Write', { file_path: 'src/a.ts' }, 'src/a.ts'],
    ['Write', { file_path: `${ROOT}/..hidden` }, '..hidden'],
  ])('%s names its file: %j', (tool, input, edited) => {
    expect(facts(tool, input)).toEqual({ isEdit: true, committed: false, edited })
  })

  test('takes the path from the response if the input lacks it', () => {
    expect(facts('Write', {}, { type: 'create', filePath: `${ROOT}/a.txt` }).edited).toBe('a.txt')
  })

  test('is recognised from a folder below the root, too', () => {
    expect(facts('Edit', { file_path: 'a.ts' }, undefined, { cwd: `${ROOT}/src` }).edited).toBe(
      'src/a.ts',
    )
  })

  test.each([
    {},
    { file_path: '' },
    { file_path: 7 },
    { file_path: ROOT },
    { file_path: 'a\0b' },
    { file_path: 'x'.repeat(9000) },
  ])('names no file without a usable path: %j', (input) => {
    expect(facts('Edit', input)).toEqual({ isEdit: true, committed: false })
  })
})

describe('a command', () => {
  test('is reported with its output', () => {
    expect(bash('npm test', { stdout: 'fine', stderr: 'warning', interrupted: false })).toEqual({
      isEdit: false,
      committed: false,
      command: 'npm test',
      output: 'fine\nwarning',
    })
  })

  test.each([
    ['a text', 'printed', 'printed'],
    ['blocks', [{ type: 'text', text: 'printed' }], 'printed'],
    ['blocks in an object', { content: [{ type: 'text', text: 'printed' }] }, 'printed'],
    ['nothing', undefined, ''],
    ['null', null, ''],
    ['a number', 7, ''],
    ['other fields', { stdout: 7 }, ''],
  ])('is reported when the response is %s', (_, response, output) => {
    expect(bash('ls', response)).toMatchObject({ command: 'ls', output })
  })

  test('is not reported before it has finished', () => {
    for (const response of [
      { stdout: '', backgroundTaskId: 'b1' },
      { stdout: 'x', interrupted: true },
    ]) {
      expect(bash('npm test', response)).toEqual({ isEdit: false, committed: false })
    }
    expect(bash('npm test', {}, { run_in_background: true })).toEqual({
      isEdit: false,
      committed: false,
    })
  })

  test('has its output limited in length', () => {
    expect(bash('ls', { stdout: 'x'.repeat(5_000_000) }).output!.length).toBeLessThan(20_000)
  })

  test.each([
    'git commit -m "x"',
    'git add -A && git commit -qm x',
    'cd sub && git -C .. -c user.name=x commit',
    'git merge main',
    'git rebase --continue',
    'git cherry-pick abc',
    'git revert HEAD',
    'git pull',
    "bash -c 'git commit -m x'",
    'GIT_AUTHOR_DATE=now git commit -m x',
  ])('is marked as a commit: %s', (command) => {
    expect(bash(command).committed).toBe(true)
  })

  test.each([
    'git status',
    'git log --grep commit',
    'echo git commit',
    'git stash',
    'git checkout commit',
    'gitk commit',
    'cat commit.txt',
  ])('is not marked as a commit: %s', (command) => {
    expect(bash(command).committed).toBe(false)
  })

  test.each([
    ['stint init --name x', 'init'],
    ['npx stint resume', 'resume'],
    ['cd a && stint log --progress "done"', 'log'],
    ['stint --json view', 'view'],
    ['node /opt/stint/dist/stint.js checkpoint', 'checkpoint'],
    ['stint log --note x; stint init --name y', 'init'],
    ['stint view; stint log --note x', 'log'],
  ])('is recognised as a stint command: %s', (command, expected) => {
    expect(bash(command).stintCommand).toBe(expected)
  })

  test.each([
    'echo stint init',
    'git commit -m "stint init"',
    'stint',
    'stint --help',
    'stints init',
    'cat stint.js',
  ])('is not recognised as a stint command: %s', (command) => {
    expect(bash(command)).not.toHaveProperty('stintCommand')
  })
})

describe('a subagent', () => {
  const asked = {
    description: 'look around',
    prompt: 'find things',
    subagent_type: 'general-purpose',
  }

  test('in the background has started', () => {
    const response = {
      isAsync: true,
      status: 'async_launched',
      agentId: 'a83b',
      description: 'look around',
    }
    expect(facts('Agent', asked, response)).toEqual({
      isEdit: false,
      committed: false,
      agentStarted: { agent: 'a83b', description: 'look around' },
    })
  })

  test('in the foreground has finished', () => {
    const response = {
      status: 'completed',
      agentId: 'aa3b',
      content: [{ type: 'text', text: 'found it' }],
    }
    expect(facts('Task', asked, response).agentFinished).toEqual({
      agent: 'aa3b',
      type: 'general-purpose',
      task: 'look around',
      result: 'found it',
    })
  })

  test('is identified by the tool use id if the response has no agent id', () => {
    expect(
      facts('Task', asked, [{ type: 'text', text: 'found it' }], { toolUseId: 't1' }).agentFinished,
    ).toMatchObject({
      agent: 't1',
      result: 'found it',
    })
  })

  test.each([undefined, null, {}, { status: 'failed' }, 7])(
    'is ignored without details: %j',
    (response) => {
      expect(facts('Agent', asked, response)).toEqual({ isEdit: false, committed: false })
    },
  )
})

describe('a todo list', () => {
  test('is read from every todo tool', () => {
    expect(
      facts('TodoWrite', { todos: [{ content: 'a', status: 'pending' }] }).todos?.todos,
    ).toHaveLength(1)
    expect(facts('TaskCreate', { subject: 'a' }, { task: { id: '1' } }).todos?.todos).toHaveLength(
      1,
    )
    expect(facts('ExitPlanMode', { plan: '1. a\n2. b' }).todos?.todos).toHaveLength(2)
  })

  test('of a subagent is not that of the conversation', () => {
    expect(
      facts('TodoWrite', { todos: [{ content: 'a', status: 'pending' }] }, undefined, {
        agent: 'a1',
      }),
    ).not.toHaveProperty('todos')
  })
})

test('the tool events of real clients are understood', () => {
  const events = recorded('claude-events.jsonl').toString('utf8').trim().split('\n').map(readEvent)
  const tools = events.filter((event): event is ToolUsedEvent => event?.kind === 'toolUsed')
  expect(
    tools.map((event) =>
      Object.keys(readToolFacts(event, ROOT)).filter(
        (key) => key !== 'isEdit' && key !== 'committed',
      ),
    ),
  ).toEqual([['edited'], ['agentStarted'], ['edited'], ['todos'], ['agentFinished']])
})

test('any tool event is parsed without an error', () => {
  const tool = fc.constantFrom(
    'Edit',
    'Write',
    'Bash',
    'Task',
    'Agent',
    'TodoWrite',
    'TaskUpdate',
    'ExitPlanMode',
    'Read',
    '__proto__',
    '',
  )
  const fields = fc.dictionary(
    fc.constantFrom(
      'file_path',
      'command',
      'todos',
      'description',
      'plan',
      'subagent_type',
      '__proto__',
    ),
    fc.anything(),
  )
  fc.assert(
    fc.property(tool, fields, fc.anything(), (name, input, response) => {
      const { edited, command } = readToolFacts(
        used(name, input, response, { toolUseId: 't1' }),
        ROOT,
      )
      expect(edited).not.toBe('')
      expect(command).not.toBe('')
    }),
    { numRuns: 500 },
  )
})
