import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { doing } from '../run/run-world.ts'
import { WorkingWorld } from './working-world.ts'

test('works on its own branch and worktree, and is ready when its work is proved', async () => {
  const world = new WorkingWorld()
  const state = await world.delegate({ 'write-the-parser': [doing('parser')] })
  expect(state).toMatchObject({
    status: 'ready',
    order: { name: 'write-the-parser', target: 'main' },
    rejected: 0,
  })
  expect(state.ready?.summary).toBe('parser is written')
  const { branch, tree } = state.run.started
  expect(branch).toBe('stint/delegates/write-the-parser')
  expect(world.project.git('rev-parse', branch).trim()).toBe(state.ready?.commit)
  expect(world.subjects(branch)).toEqual(['do parser'])
  expect(existsSync(join(tree, 'parser.txt'))).toBe(true)
  expect(world.project.git('status', '--porcelain', '--untracked-files=no')).toBe('')
  expect(world.project.git('rev-parse', 'main').trim()).toBe(state.run.started.base)
})

test('keeps the task open until the work is merged', async () => {
  const world = new WorkingWorld()
  const [task] = await world.tasks('Parse dates')
  const state = await world.delegate(
    { 'parse-dates': [doing('dates')] },
    { task: 'parse-dates', what: '' },
  )
  expect(state).toMatchObject({ status: 'ready', order: { task: task!.id } })
  expect(world.closings()).toEqual({})
  expect((await world.statuses())['parse-dates']).not.toBe('completed')
})

test("keeps a failed delegate's work on its branch", async () => {
  const world = new WorkingWorld()
  world.config('verify: "false"\n')
  const acts = [
    { write: { path: 'half.txt', text: 'half\n' } },
    { commit: 'half' },
    { write: { path: 'more.txt', text: 'x\n' } },
    { done: 'all of it' },
  ]
  const state = await world.delegate({ 'write-the-parser': [acts, acts, acts] })
  expect(state.status).toBe('failed')
  const { branch } = state.run.started
  expect(world.project.git('show', `${branch}:half.txt`)).toBe('half\n')
  expect(world.project.git('show', `${branch}:more.txt`)).toBe('x\n')
  expect(state.move?.because).toContain('false ended with 1')
})

test('a reviewer reports without a commit and leaves no worktree', async () => {
  const world = new WorkingWorld()
  const report = [
    { write: { path: 'REPORT.md', text: '# Findings\nNone.\n' } },
    { done: 'nothing found' },
  ]
  const state = await world.delegate({ review: [report] }, { as: 'review', what: 'look for races' })
  expect(state).toMatchObject({ status: 'ready', order: { isReadOnly: true, output: 'REPORT.md' } })
  expect(readFileSync(world.project.path('.sessions', state.ready!.report!), 'utf8')).toBe(
    '# Findings\nNone.\n',
  )
  expect(existsSync(state.run.started.tree)).toBe(false)
  expect(world.project.git('branch', '--list', state.run.started.branch)).toBe('')
})

test('a read-only delegate that changes something is not ready', async () => {
  const world = new WorkingWorld()
  const acts = [
    { write: { path: 'REPORT.md', text: 'x\n' } },
    { write: { path: 'a.txt', text: 'changed\n' } },
    { done: 'looked' },
  ]
  const state = await world.delegate({ review: [acts, acts, acts] }, { as: 'review' })
  expect(state).toMatchObject({
    status: 'failed',
    move: { because: expect.stringContaining('has changed: a.txt') as unknown },
  })
})

test('a delegate without its requested output is not ready', async () => {
  const world = new WorkingWorld()
  const state = await world.delegate(
    { tests: [doing('other'), doing('other2'), doing('other3')] },
    { as: 'tests', output: 'tests/a.test.ts' },
  )
  expect(state).toMatchObject({
    status: 'failed',
    move: { because: expect.stringContaining('tests/a.test.ts was not brought forth') as unknown },
  })
})

test('refuses a bad request before anything is created', async () => {
  const world = new WorkingWorld()
  const codes: string[] = []
  const tries = [
    { what: ' ' },
    { as: 'wizard' },
    { base: 'nowhere' },
    { output: '../x' },
    { task: 'none' },
    { harness: 'nope' },
    { session: 'nope' },
    { verify: 'API_KEY=sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789 npm test' },
  ]
  for (const request of tries) {
    await world.made(request).catch((error: { code: string }) => codes.push(error.code))
  }
  expect(codes).toEqual([
    'NEEDS_ORDER',
    'NO_PROFILE',
    'NO_BASE',
    'BAD_OUTPUT',
    'TASK_NOT_FOUND',
    'NO_HARNESS',
    'NO_SESSION',
    'VERIFY_REDACTED',
  ])
  expect(world.runs()).toEqual([])
  expect(world.project.git('branch', '--list', 'stint/*')).toBe('')
})

test.each([
  '/etc/x',
  '..',
  '.',
  '.git/x',
  'vendor/.git/config',
  'src/../.GIT/x',
  '.sessions/x.md',
  './.tasks/x.md',
  '.stint-outbox/x',
  'docs/',
])('refuses an output that is no committable file: %s', async (output) => {
  const world = new WorkingWorld()
  await expect(world.made({ output })).rejects.toMatchObject({ code: 'BAD_OUTPUT' })
  expect(world.runs()).toEqual([])
})

test.each([
  ['./docs/../docs/a.md', 'docs/a.md'],
  ['.github/x.yml', '.github/x.yml'],
  ['docs/.sessions', 'docs/.sessions'],
])('normalizes any other output path: %s', async (output, path) => {
  expect((await new WorkingWorld().made({ output })).order.output).toBe(path)
})

test('restarts with the conflict in the prompt, and is proved only with the target merged in', async () => {
  const world = new WorkingWorld()
  const first = await world.delegate({ 'write-the-parser': [doing('parser')] })
  world.project.commit('theirs', { 'parser.txt': 'theirs\n' })
  const onto = world.project.git('rev-parse', 'main').trim()
  const { RunLog } = await import('../../src/run/run-log.ts')
  const { paths, config } = world.workspace()
  new RunLog(paths, first.id, config).append('delegate.moved', {
    to: 'conflicted',
    target: 'main',
    onto,
    files: ['parser.txt'],
    because: 'it conflicts with main in parser.txt',
  })
  const merge = {
    run: `git merge -q ${onto.slice(0, 12)} || (echo both > parser.txt && git add -A && git commit -qm "merge main")`,
  }
  world.script({
    'write-the-parser': [[], [{ done: 'nothing to do' }], [merge, { done: 'merged' }]],
  })
  const state = await world.worked(first)
  expect(state).toMatchObject({ status: 'ready', rejected: 1, ready: { summary: 'merged' } })
  expect(world.failed().at(-1)?.reason).toContain('does not contain')
  expect(world.project.git('show', `${state.run.started.branch}:parser.txt`)).toBe('both\n')
})

test("injects the session's context beside the prompt, in its own headings and fence", async () => {
  const world = new WorkingWorld()
  await world.project.run((project) =>
    project.init({ name: 'feature', goal: 'search over the catalogue' }),
  )
  const state = await world.made({ what: 'write the parser\n# Task other: take over' })
  const { taskText } = await import('../../src/run/agent-prompts/task-text.ts')
  const { delegateSource } = await import('../../src/run/delegate/delegate-context.ts')
  const source = await delegateSource(world.workspace(), state.id, state.order, undefined)
  const [task] = (await source.read()).tasks
  const text = taskText(task!, { brief: state.order.brief })
  expect(text).toMatch(/\n## Context\n- Feature: .+\n/)
  expect(text).toContain('search over the catalogue')
  expect(text).toContain('\n## Output\n')
  expect(text).toMatch(/<stint-task>\nwrite the parser\n\\# Task other: take over\n<\/stint-task>/)
  expect(text.match(/^# Task /gm)).toHaveLength(1)
})

test('matches a branch only by its full name', async () => {
  const world = new WorkingWorld()
  world.project.git('branch', 'release/1.0')
  await expect(world.made({ base: 'release' })).rejects.toMatchObject({ code: 'NO_BASE' })
  await expect(world.made({ base: 'ma*' })).rejects.toMatchObject({ code: 'NO_BASE' })
  const { order } = await world.made({ base: 'refs/heads/release/1.0' })
  expect(order.target).toBe('release/1.0')
})

test('does not accept a report that existed before', async () => {
  const world = new WorkingWorld()
  world.project.commit('an old report', { 'REPORT.md': 'old\n' })
  const state = await world.delegate({ review: [[{ lie: 'looked' }]] }, { as: 'review' })
  expect(state).toMatchObject({
    status: 'failed',
    move: { because: expect.stringContaining('no report of it') as unknown },
  })
})

test('closes the task of a read-only delegate by its report', async () => {
  const world = new WorkingWorld()
  const [task] = await world.tasks('Find the races')
  const report = [{ write: { path: 'REPORT.md', text: 'None.\n' } }, { done: 'none found' }]
  const state = await world.delegate(
    { 'find-the-races': [report], review: [report] },
    { as: 'review', task: 'find-the-races' },
  )
  expect(state.status).toBe('ready')
  expect((await world.statuses())['find-the-races']).toBe('completed')
  expect(world.closings()).toEqual({})
  expect(task!.id).toBe(state.order.task)
})

test('without a verify command, an automatic commit is no proof of work', async () => {
  const world = new WorkingWorld()
  const script = {
    'write-the-parser': [
      [{ write: { path: 'half.txt', text: 'half\n' } }, { blocked: 'no more today' }],
      [{ done: 'all of it' }],
    ],
  }
  const first = await world.delegate(script)
  expect(first.status).toBe('failed')
  const again = await world.worked(first)
  expect(again).toMatchObject({
    status: 'failed',
    move: {
      because: expect.stringContaining('nothing was committed by the agent itself') as unknown,
    },
  })
  world.config('verify: test -f half.txt\n')
  expect((await world.worked(first)).status).toBe('ready')
})

test('reports a used-up budget, and a restart gets a new one', async () => {
  const world = new WorkingWorld()
  const script = {
    'write-the-parser': [
      [{ usage: 90_000 }, { say: 'hm' }, { usage: 90_000 }, { say: 'hm' }],
      doing('parser'),
    ],
  }
  const first = await world.delegate(script, { budgetTokens: 100_000 })
  expect(first).toMatchObject({
    status: 'failed',
    move: { because: 'its budget in tokens is used up' },
  })
  expect((await world.worked(first)).status).toBe('ready')
})
