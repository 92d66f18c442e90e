import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { TaskStatus } from '../../../src/session/entries.ts'
import { fold } from '../../../src/session/fold.ts'
import { sessionJson } from '../../../src/document/export/session-json.ts'
import type { BacklogTask, UnfinishedAgent } from '../../../src/document/export/collect-work.ts'
import { noticedStory } from '../../context/sessions.ts'
import { history } from '../../support/entries.ts'
import { sessionJsonProblems } from '../../support/session-json-checker.ts'
import { Story, sweepStory } from '../../support/worlds.ts'

const task = (
  id: string,
  status: TaskStatus = 'ready',
  more: Partial<BacklogTask> = {},
): BacklogTask => ({
  id,
  title: `Task ${id}`,
  status,
  dependsOn: [],
  proposed: 'code',
  checklist: [],
  ...more,
})

const exported = (
  story: Story,
  tasks: readonly BacklogTask[] = [],
  unfinished: readonly UnfinishedAgent[] = [],
) =>
  sessionJson({
    state: story.state,
    entries: story.entries,
    tasks,
    unfinished,
    propose: () => 'code',
  })

describe('a session.json', () => {
  test('has exactly the fields of its schema for any session', () => {
    const status = fc.constantFrom<TaskStatus>(
      'ready',
      'in_progress',
      'blocked',
      'completed',
      'failed',
    )
    const tasks = fc.array(
      fc.tuple(status, fc.option(fc.constantFrom('1', '2', 'x'), { nil: undefined }), fc.boolean()),
      {
        maxLength: 8,
      },
    )
    fc.assert(
      fc.property(history(), tasks, (entries, planned) => {
        const made = planned.map(([state, parent, isGrouped], n) =>
          task(String(n), state, {
            ...(parent === undefined ? {} : { parent }),
            ...(isGrouped ? { group: 'g' } : {}),
          }),
        )
        const state = {
          ...fold('019abc12-3456-7def-8901-234567890abc', entries),
          name: 'fix-login',
        }
        const unfinished = [{ id: 'agent-1', prompt: '', isLost: false }]
        const value = sessionJson({
          state,
          entries,
          tasks: made,
          unfinished,
          propose: () => 'code',
        })
        expect(sessionJsonProblems(JSON.parse(JSON.stringify(value)))).toEqual([])
      }),
    )
  })

  test('identifies the session by its start date and name', () => {
    const value = exported(sweepStory())
    expect(value).toMatchObject({
      session_id: '2025-01-15_fix-sweep-bug',
      start_time: '2025-01-15T10:00:00Z',
      domain: 'backend',
    })
  })

  test.each([
    [0, 'simple'],
    [2, 'simple'],
    [3, 'medium'],
    [5, 'medium'],
    [6, 'complex'],
  ])('calls %i tasks %s, and as many steps too', (size, complexity) => {
    const story = new Story()
    expect(
      exported(
        story,
        Array.from({ length: size }, (_, n) => task(String(n))),
      ).complexity,
    ).toBe(complexity)
    for (let n = 0; n < size; n += 1) story.add('step.added', { text: `Step ${n}` })
    expect(exported(story).complexity).toBe(complexity)
    expect(exported(story, [task('1')]).complexity).toBe(complexity)
  })

  test('lists the steps as tasks, with their changed files, when there are no backlog tasks', () => {
    const story = new Story()
    const first = story.add('step.added', { text: 'First' })
    const second = story.add('step.added', { text: 'Second' })
    story.add('step.added', { text: 'Third' })
    story.add('file.changed', { path: 'before.ts' })
    story.add('step.started', { step: first })
    story.add('file.changed', { path: 'a file.ts' })
    story.add('file.changed', { path: 'a file.ts' })
    story.add('step.done', { step: first })
    story.add('step.started', { step: second })
    story.add('file.changed', { path: 'b.ts' })
    expect(exported(story).tasks).toMatchObject([
      {
        id: first,
        description: 'First',
        status: 'done',
        files: ['a file.ts'],
        start_time: '2025-01-15T10:05:00Z',
        end_time: '2025-01-15T10:08:00Z',
      },
      { id: second, status: 'working', files: ['b.ts'], end_time: null },
      { description: 'Third', status: 'pending', files: [], start_time: null },
    ])
  })

  test('marks a started step as paused once the session is not active', () => {
    const story = new Story()
    story.add('step.started', { step: story.add('step.added', { text: 'First' }) })
    story.add('session.paused', {})
    expect(exported(story).tasks[0]).toMatchObject({ status: 'paused' })
  })

  test('translates task statuses into its own words', () => {
    const all = [
      task('1'),
      task('2', 'in_progress'),
      task('3', 'in_progress', { assignee: 'debugger' }),
      task('4', 'blocked'),
    ]
    const value = exported(new Story(), [...all, task('5', 'completed'), task('6', 'failed')])
    expect(value.tasks.map(({ status }) => status)).toEqual([
      'pending',
      'working',
      'delegated',
      'paused',
      'done',
      'paused',
    ])
    expect(value.tasks.map((one) => one.assigned_to)).toEqual([
      'code',
      'code',
      'debugger',
      'code',
      'code',
      'code',
    ])
    const paused = new Story()
    paused.add('session.paused', {})
    expect(exported(paused, all).tasks.map(({ status }) => status)).toEqual([
      'pending',
      'paused',
      'paused',
      'paused',
    ])
  })

  test('nests tasks by parent and names no parent that is not in the file', () => {
    const value = exported(new Story(), [
      task('1'),
      task('2', 'ready', { parent: '1', dependsOn: ['9'] }),
      task('3', 'ready', { parent: '9' }),
    ])
    expect(value.tasks.map((one) => one.parent_id)).toEqual([null, '1', null])
    expect(value.tasks[1]!.dependencies).toEqual(['9'])
  })

  test('ticks the checklist of a single task for each step that was done', () => {
    const story = new Story()
    story.add('step.done', { step: story.add('step.added', { text: 'one' }) })
    story.add('step.added', { text: 'three' })
    story.add('file.changed', { path: 'a.ts' })
    const checklist = ['one', 'two'].map((item) => ({ item, done: false }))
    expect(exported(story, [task('1', 'in_progress', { checklist })]).tasks[0]).toMatchObject({
      checklist: [
        { item: 'one', done: true },
        { item: 'two', done: false },
        { item: 'three', done: false },
      ],
      files: ['a.ts'],
    })
  })

  test('assigns a file to the one task in progress, to a sub-task before its parent, and never to two', () => {
    const story = new Story()
    const move = (id: string, status: TaskStatus) => story.add('task.moved', { task: id, status })
    move('1', 'in_progress')
    story.add('file.changed', { path: 'whole.ts' })
    move('2', 'in_progress')
    story.add('file.changed', { path: 'part.ts' })
    move('3', 'in_progress')
    story.add('file.changed', { path: 'either.ts' })
    move('3', 'completed')
    const value = exported(story, [
      task('1', 'in_progress'),
      task('2', 'in_progress', { parent: '1' }),
      task('3', 'completed'),
    ])
    expect(value.tasks.map(({ files }) => files)).toEqual([['whole.ts'], ['part.ts'], []])
    expect(value.tasks[2]).toMatchObject({
      start_time: '2025-01-15T10:05:00Z',
      end_time: '2025-01-15T10:07:00Z',
    })
  })

  test('lists parallel groups, completed when all their tasks are', () => {
    const one = { group: 'g1' }
    const two = { group: 'g2' }
    const tasks = [
      task('1', 'completed', one),
      task('2', 'completed', two),
      task('3', 'ready', one),
      task('4'),
    ]
    expect(exported(new Story(), tasks).parallel_groups).toEqual([
      { group_id: 'g1', tasks: ['1', '3'], status: 'running' },
      { group_id: 'g2', tasks: ['2'], status: 'completed' },
    ])
  })

  test('lists delegated agents: finished, running and lost', () => {
    const value = exported(
      noticedStory(),
      [],
      [
        { id: 'a-1', prompt: 'the same', isLost: false },
        { id: 'a-2', prompt: 'look around', isLost: false },
        { id: 'a-3', prompt: 'look further', isLost: true },
      ],
    )
    const current = value.tasks.find(({ status }) => status === 'working')
    expect(value.delegates).toEqual([
      {
        id: 'a-1',
        agent: 'agent',
        task_id: current!.id,
        prompt: 'review the diff',
        status: 'completed',
        result: 'two findings: a null check, a name',
      },
      {
        id: 'a-2',
        agent: 'agent',
        task_id: null,
        prompt: 'look around',
        status: 'running',
        result: null,
      },
      {
        id: 'a-3',
        agent: 'agent',
        task_id: null,
        prompt: 'look further',
        status: 'failed',
        result: null,
      },
    ])
  })

  test('leaves out retracted entries', () => {
    const story = new Story()
    const step = story.add('step.added', { text: 'First' })
    story.add('step.started', { step })
    const retracted = [story.add('file.changed', { path: 'never.ts' })]
    retracted.push(
      story.add('agent.finished', { agent: 'a-1', conversation: 'c-1', result: 'nonsense' }),
    )
    for (const entry of retracted) story.add('entry.retracted', { entry })
    expect(exported(story)).toMatchObject({ tasks: [{ files: [] }], delegates: [] })
  })
})

describe('the checker', () => {
  test('finds an extra field, a field of the wrong type and an id that points to nothing', () => {
    const value = JSON.parse(JSON.stringify(exported(sweepStory()))) as Record<string, unknown>
    expect(sessionJsonProblems({ ...value, more: 1 })).toHaveLength(1)
    expect(sessionJsonProblems({ ...value, domain: 'docs' })).toHaveLength(1)
    expect(
      sessionJsonProblems({
        ...value,
        parallel_groups: [{ group_id: 'g', tasks: ['no'], status: 'running' }],
      }),
    ).toHaveLength(1)
  })
})
