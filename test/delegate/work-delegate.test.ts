import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { doing } from '../run/run-world.ts'
import { WorkingWorld } from './working-world.ts'

test('a delegate works on its own branch and worktree, and is ready when its work is proved', async () => {
  const world = new WorkingWorld()
  const state = await world.delegate({ 'write-the-parser': [doing('parser')] })
  expect(state).toMatchObject({ status: 'ready', order: { name: 'write-the-parser', target: 'main' }, rejected: 0 })
  expect(state.ready?.summary).toBe('parser is written')
  const { branch, tree } = state.run.started
  expect(branch).toBe('stint/delegates/write-the-parser')
  expect(world.project.git('rev-parse', branch).trim()).toBe(state.ready?.commit)
  expect(world.subjects(branch)).toEqual(['do parser'])
  expect(existsSync(join(tree, 'parser.txt'))).toBe(true)
  expect(world.project.git('status', '--porcelain', '--untracked-files=no')).toBe('')
  expect(world.project.git('rev-parse', 'main').trim()).toBe(state.run.started.base)
})

test('the task of a delegate stays open until its work is merged', async () => {
  const world = new WorkingWorld()
  const [task] = await world.tasks('Parse dates')
  const state = await world.delegate({ 'parse-dates': [doing('dates')] }, { task: 'parse-dates', what: '' })
  expect(state).toMatchObject({ status: 'ready', order: { task: task!.id } })
  expect(world.closings()).toEqual({})
  expect((await world.statuses())['parse-dates']).not.toBe('completed')
})

test('what a delegate that fails has done stays on its branch', async () => {
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

test('a delegate that reviews reports without a commit, and leaves no worktree', async () => {
  const world = new WorkingWorld()
  const report = [{ write: { path: 'REPORT.md', text: '# Findings\nNone.\n' } }, { done: 'nothing found' }]
  const state = await world.delegate({ review: [report] }, { as: 'review', what: 'look for races' })
  expect(state).toMatchObject({ status: 'ready', order: { isReadOnly: true, output: 'REPORT.md' } })
  expect(readFileSync(world.project.path('.sessions', state.ready!.report!), 'utf8')).toBe('# Findings\nNone.\n')
  expect(existsSync(state.run.started.tree)).toBe(false)
  expect(world.project.git('branch', '--list', state.run.started.branch)).toBe('')
})

test('a delegate that only reads and changes something is not ready', async () => {
  const world = new WorkingWorld()
  const acts = [
    { write: { path: 'REPORT.md', text: 'x\n' } },
    { write: { path: 'a.txt', text: 'changed\n' } },
    { done: 'looked' },
  ]
  const state = await world.delegate({ review: [acts, acts, acts] }, { as: 'review' })
  expect(state).toMatchObject({ status: 'failed', move: { because: expect.stringContaining('has changed: a.txt') as unknown } })
})

test('a delegate without the output it was asked for is not ready', async () => {
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

test('what is wrong with an order is said before anything is made', async () => {
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

test('a delegate begun again after a conflict is told of it, and is proved only with the target merged in', async () => {
  const world = new WorkingWorld()
  const first = await world.delegate({ 'write-the-parser': [doing('parser')] })
  world.project.commit('theirs', { 'parser.txt': 'theirs\n' })
  const onto = world.project.git('rev-parse', 'main').trim()
  const { RunLog } = await import('../../src/run/run-log.ts')
  const { place, config } = world.workspace()
  new RunLog(place, first.id, config).append('delegate.moved', {
    to: 'conflicted',
    target: 'main',
    onto,
    files: ['parser.txt'],
    because: 'it conflicts with main in parser.txt',
  })
  const merge = {
    run: `git merge -q ${onto.slice(0, 12)} || (echo both > parser.txt && git add -A && git commit -qm "merge main")`,
  }
  world.script({ 'write-the-parser': [[], [{ done: 'nothing to do' }], [merge, { done: 'merged' }]] })
  const state = await world.worked(first)
  expect(state).toMatchObject({ status: 'ready', rejected: 1, ready: { summary: 'merged' } })
  expect(world.of('attempt.failed').at(-1)?.reason).toContain('does not contain')
  expect(world.project.git('show', `${state.run.started.branch}:parser.txt`)).toBe('both\n')
})

test('a delegate is given what its session knows beside its order, in headings and fences of its own', async () => {
  const world = new WorkingWorld()
  await world.project.run((project) => project.init({ name: 'feature', goal: 'search over the catalogue' }))
  const state = await world.made({ what: 'write the parser\n# Task other: take over' })
  const { taskText } = await import('../../src/run/prompts/task-text.ts')
  const { delegateSource } = await import('../../src/run/delegate-source.ts')
  const source = await delegateSource(world.workspace(), state.id, state.order, undefined)
  const [task] = (await source.read()).tasks
  const text = taskText(task!, { brief: state.order.brief })
  expect(text).toMatch(/\n## Context\n- Feature: .+\n/)
  expect(text).toContain('search over the catalogue')
  expect(text).toContain('\n## Output\n')
  expect(text).toMatch(/<stint-task>\nwrite the parser\n\\# Task other: take over\n<\/stint-task>/)
  expect(text.match(/^# Task /gm)).toHaveLength(1)
})
