import { expect, test } from 'vitest'
import { backlogAt, foldBacklog } from '../../src/backlog/backlog.ts'
import { dependencyCycles, isReady, unmetDependencies } from '../../src/backlog/task-graph.ts'
import { MemoryJournal, backlogOf } from './world.ts'

test('a task has a default for every field that is not set', () => {
  const journal = new MemoryJournal()
  journal.log('task.added', { task: 't1', title: 'Fix the login' })
  const expected = {
    shortname: 'fix-the-login',
    priority: 'P2',
    size: 'M',
    status: 'ready',
    labels: [],
    checklist: [],
  }
  expect(journal.task('t1')).toMatchObject(expected)
  expect(journal.task('t1').createdAt).toBe(journal.entries[0]!.at)
})

test('changes, moves and ticks apply in the order of their ids', () => {
  const journal = new MemoryJournal()
  journal.add('t1', { checklist: [{ item: 'one', done: false }] })
  journal.log('task.changed', { task: 't1', priority: 'P0', labels: ['auth'] })
  journal.log('task.checked', { task: 't1', item: 'one', done: true })
  journal.move('t1', 'in_progress')
  journal.move('t1', 'failed', 'the server is down')
  const shuffled = foldBacklog(journal.entries.toReversed())
  expect(shuffled).toEqual(journal.backlog())
  expect(journal.task('t1')).toMatchObject({
    priority: 'P0',
    labels: ['auth'],
    checklist: [{ item: 'one', done: true }],
    status: 'failed',
    summary: 'the server is down',
    updatedAt: journal.entries.at(-1)!.at,
  })
})

test('a retracted move restores the status before it', () => {
  const journal = backlogOf('a')
  const moved = journal.move('a', 'completed')
  journal.log('entry.retracted', { entry: moved })
  expect(journal.task('a').status).toBe('ready')
})

test('an amended addition shows the amended fields', () => {
  const journal = new MemoryJournal()
  const added = journal.add('a')
  journal.log('entry.amended', { entry: added, changes: { title: 'Better' } })
  expect(journal.task('a').title).toBe('Better')
})

test('a task whose addition was retracted is listed as withdrawn', () => {
  const journal = new MemoryJournal()
  const added = journal.add('a')
  journal.log('entry.retracted', { entry: added })
  expect(journal.backlog().tasks).toEqual([])
  expect([...journal.backlog().withdrawn]).toEqual(['a'])
})

test('a change with a smaller id than its addition still counts', () => {
  const journal = new MemoryJournal()
  journal.log('task.changed', { task: 'a', priority: 'P0' })
  journal.add('a', { priority: 'P3' })
  expect(journal.task('a').priority).toBe('P0')
})

test('a task added on two machines is one task with the fields of both', () => {
  const journal = new MemoryJournal()
  journal.log('task.added', { task: 'a', title: 'First' })
  journal.log('task.added', { task: 'a', title: 'Second', verify: 'npm test' })
  expect(journal.backlog().tasks).toHaveLength(1)
  expect(journal.task('a')).toMatchObject({ title: 'First', verify: 'npm test' })
})

test('unknown values change nothing and do not throw', () => {
  const journal = backlogOf('a P1 S')
  const odd: Record<string, unknown> = {
    task: 'a',
    priority: 'P9',
    size: 7,
    labels: 'x',
    checklist: [1, null, { item: 3 }],
    title: {},
  }
  journal.append([{ kind: 'task.changed', by: 'x', data: odd as never }])
  journal.append([
    { kind: 'task.moved', by: 'x', data: { task: 'a', status: 'in_review' } as never },
  ])
  journal.append([{ kind: 'task.moved', by: 'x', data: { task: {} } as never }])
  journal.append([{ kind: 'task.archived' as never, by: 'x', data: { task: 'a' } as never }])
  expect(journal.task('a')).toMatchObject({
    title: 'Task a',
    priority: 'P1',
    size: 'S',
    status: 'ready',
    labels: [],
  })
})

test('the status and priority words of other task lists are understood', () => {
  const journal = new MemoryJournal()
  journal.add('a', { priority: 'urgent', size: 'xl' })
  journal.append([{ kind: 'task.moved', by: 'x', data: { task: 'a', status: 'working' } as never }])
  expect(journal.task('a')).toMatchObject({ priority: 'P0', size: 'XL', status: 'in_progress' })
})

test('an empty text or list clears its field', () => {
  const journal = new MemoryJournal()
  journal.add('a', { assignee: 'code', labels: ['x'] })
  journal.log('task.changed', { task: 'a', assignee: '', labels: [] })
  expect(journal.task('a')).not.toHaveProperty('assignee')
  expect(journal.task('a').labels).toEqual([])
})

test('a task keeps its shortname when its title changes', () => {
  const journal = new MemoryJournal()
  journal.log('task.added', { task: 'a', title: 'Fix login' })
  journal.log('task.changed', { task: 'a', title: 'Fix the login page' })
  expect(journal.task('a')).toMatchObject({ shortname: 'fix-login', title: 'Fix the login page' })
})

test('blocks and children are derived from the other tasks', () => {
  const backlog = backlogOf('epic', 'a ^epic', 'b <a ^epic', 'c <a').backlog()
  expect(backlog.byId.get('a')!.blocks).toEqual(['b', 'c'])
  expect(backlog.byId.get('epic')!.children).toEqual(['a', 'b'])
})

test('a dependency named by shortname or partial id is stored as the id', () => {
  const journal = new MemoryJournal()
  journal.log('task.added', { task: '019b7000-aaaa-7000-8000-0000deadbeef', title: 'Log in' })
  journal.add('by-name', { dependsOn: ['log-in'] })
  journal.add('by-part', { dependsOn: ['deadbeef'] })
  expect(journal.backlog().tasks[0]!.blocks).toEqual(['by-name', 'by-part'])
})

test('a task lists the sessions whose journals mention it', () => {
  const journal = backlogOf('a')
  journal.log('task.linked', { task: 'a' }, { session: 's1' })
  journal.log('task.moved', { task: 'a', status: 'in_progress' }, { session: 's2' })
  expect(journal.task('a').sessions).toEqual(['s1', 's2'])
  journal.log('task.unlinked', { task: 'a' }, { session: 's1' })
  expect(journal.task('a').sessions).toEqual(['s2'])
})

test('the backlog at an entry holds nothing newer', () => {
  const journal = backlogOf('a')
  const then = journal.backlog()
  journal.move('a', 'completed')
  expect(backlogAt(journal.entries, then.lastId)).toEqual(then)
})

test('a task is ready when all its dependencies are completed', () => {
  const backlog = backlogOf('a completed', 'b', 'c <a', 'd <a,b').backlog()
  const ready = backlog.tasks.filter((task) => isReady(backlog, task)).map((task) => task.id)
  expect(ready).toEqual(['b', 'c'])
  expect(unmetDependencies(backlog, backlog.byId.get('d')!).map((wait) => wait.reference)).toEqual([
    'b',
  ])
})

test('a dependency missing from the backlog blocks its task and is reported', () => {
  const backlog = backlogOf('a <t9').backlog()
  expect(isReady(backlog, backlog.byId.get('a')!)).toBe(false)
  expect(backlog.problems).toEqual(['a waits for t9, which is not in the backlog'])
})

test.each([
  [['a <b', 'b <a'], ['dependency cycle: a → b → a']],
  [['a <a'], ['dependency cycle: a → a']],
  [['x <a', 'a <b', 'b <c', 'c <a'], ['dependency cycle: a → b → c → a']],
  [['epic', 'a ^epic <epic'], ['dependency cycle: epic → a → epic']],
  [['a <b completed', 'b <a'], []],
])('%j has the cycles %j', (lines, problems) => {
  expect(backlogOf(...lines).backlog().problems).toEqual(problems)
})

test('a chain of ten thousand tasks has no cycle and does not overflow the stack', () => {
  const journal = new MemoryJournal()
  journal.append(
    Array.from({ length: 10_000 }, (_, n) => ({
      kind: 'task.added' as const,
      by: 'x',
      data: { task: `t${n}`, title: `T ${n}`, dependsOn: n === 0 ? [] : [`t${n - 1}`] },
    })),
  )
  expect(dependencyCycles(journal.backlog())).toEqual([])
})

test('a parent completed before its sub-tasks is reported and stays completed', () => {
  const backlog = backlogOf('epic completed', 'a ^epic').backlog()
  expect(backlog.problems).toEqual(['epic is completed, but its part a is ready'])
  expect(backlog.byId.get('epic')!.status).toBe('completed')
})
