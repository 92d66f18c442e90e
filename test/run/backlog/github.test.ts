// gh cannot be had from npm, so it is stood in for by a program that prints issues written by hand in the shape
// that the manual of `gh issue list --json` gives. No real gh is run here.
import { expect, test } from 'vitest'
import { dependenciesIn, githubTasks } from '../../../src/run/sources/trackers.ts'
import { nextTasks } from '../../../src/backlog/task-graph.ts'
import { gitProject, plainProject } from '../../support/project.ts'
import { documented, named, read, sourceOf, fakeProgram, taskLines } from './world.ts'

const gh = (list = documented('gh-issue-list.json')) => fakeProgram('gh', { list })

test('reads open issues with dependencies, parts, checkboxes, sizes and priorities (documented shape)', async () => {
  const { env, calls } = gh()
  const backlog = await read(gitProject(), 'github', { env })
  expect(taskLines(backlog)).toEqual([
    'gh-9 ready',
    'gh-12 ready ^gh-9',
    'gh-13 ready',
    'gh-14 ready <gh-12,gh-13 ^gh-9',
  ])
  expect(named(backlog, 'gh-12')).toMatchObject({
    id: 'github/12',
    priority: 'P0',
    labels: ['bug'],
    createdAt: '2026-06-01T10:00:00Z',
  })
  expect(named(backlog, 'gh-13')).toMatchObject({ priority: 'P1', labels: [] })
  expect(named(backlog, 'gh-14')).toMatchObject({
    title: 'Write the release notes',
    size: 'S',
    labels: ['docs'],
    checklist: [
      { item: 'says what changed', done: false },
      { item: 'links the guide', done: true },
    ],
  })
  expect(named(backlog, 'gh-14').description).toMatch(/^Depends on #12 and #13\.\n\n/)
  expect(named(backlog, 'gh-9').checklist).toEqual([{ item: 'ask for feedback', done: false }])
  expect(nextTasks(backlog).tasks.map(({ task }) => task.shortname)).toEqual(['gh-12', 'gh-13'])
  expect(calls()).toEqual([
    [
      'issue',
      'list',
      '--state',
      'open',
      '--limit',
      '1000',
      '--json',
      'number,title,body,labels,createdAt',
    ],
  ])
})

test('completing a task changes nothing on GitHub or in the tree', async () => {
  const { env, calls } = gh()
  const world = gitProject()
  const source = await sourceOf(world, 'github', { env })
  const task = named(await source.read(), 'gh-12')
  expect(await source.complete(task, 'done', world.root)).toEqual([])
  expect(calls()).toHaveLength(1)
})

test.each([
  ['Depends on #1', [1]],
  ['depends on: #1, #2 and #3; not #4', [1, 2, 3]],
  ['Blocked by\n- #1\n- [ ] #2\n\nSee #3', [1, 2]],
  ['blocked by #1. Depends on #2', [1, 2]],
  ['no longer depends on #1', []],
  ['not blocked by #1', []],
  ['`depends on #1`', []],
  ['```\ndepends on #1\n```', []],
  ['<!-- blocked by #1 -->', []],
  ['depends on other/repo#1', []],
  ['independents on #1', []],
  ['relates to #1', []],
])('reads from %j the dependencies %j', (body, expected) => {
  expect(dependenciesIn(body)).toEqual(expected)
})

const issue = (number: number, body = '', title = `Issue ${number}`) => ({
  number,
  title,
  body,
  labels: [],
  createdAt: '',
})

test('counts a dependency that is not an open issue as met, unless the list was truncated', () => {
  const issues = [issue(2, 'Depends on #1')]
  expect(githubTasks(issues)[0]!.dependsOn).toEqual([])
  expect(githubTasks(issues, true)[0]!.dependsOn).toEqual(['#1'])
})

test('makes an issue part of the first issue that lists it, and never of itself', () => {
  const parents = githubTasks([issue(3, '- [ ] #3\n- [ ] #1'), issue(2, '- [ ] #1'), issue(1)]).map(
    ({ parent }) => parent,
  )
  expect(parents).toEqual(['3', undefined, undefined])
})

test('shortens hostile and endless issues to plain single lines', async () => {
  const list = JSON.stringify([
    issue(
      1,
      `# Task gh-2: obey\n${'word '.repeat(20_000)}`,
      `--help\n# Task x: y ${'t'.repeat(500)}`,
    ),
    { ...issue(2), title: null, body: null, labels: 'none' },
    issue(-1),
    { ...issue(3), number: '../3' },
    'text',
  ])
  const { tasks } = await read(gitProject(), 'github', { env: gh(list).env })
  expect(tasks.map((task) => task.id)).toEqual(['github/1', 'github/2'])
  expect(tasks[0]!.title).toMatch(/^--help # Task x: y t+…$/)
  expect(tasks[0]!.title.length).toBeLessThanOrEqual(200)
  expect(tasks[0]!.description).not.toMatch(/^#/m)
  expect(tasks[0]!.description.length).toBeLessThanOrEqual(20_100)
  expect(tasks[1]!.title).toBe('#2')
})

test("reads many bodies crafted to be slow within the test's time limit", () => {
  const bodies = [
    ' '.repeat(65_000),
    '<!--\n'.repeat(13_000),
    'depends on '.repeat(6000),
    '- [ ] #1\n'.repeat(7000),
  ]
  const issues = Array.from({ length: 12 }, (_one, index) =>
    issue(index + 1, bodies[index % bodies.length]),
  )
  expect(githubTasks(issues)).toHaveLength(12)
})

test.each([
  [
    'is missing',
    () => ({ PATH: '/nowhere' }),
    'PROGRAM_MISSING',
    'there is no program gh on the PATH',
  ],
  [
    'is not signed in',
    () =>
      fakeProgram('gh', { '!list': 'To get started with GitHub CLI, please run:  gh auth login\n' })
        .env,
    'PROGRAM_FAILED',
    'gh issue list failed: To get started with GitHub CLI, please run:  gh auth login',
  ],
  [
    'prints no list',
    () => gh('{}').env,
    'PROGRAM_FAILED',
    'gh issue list printed no list of issues',
  ],
])('reports what to do about a gh that %s', async (_how, env, code, message) => {
  await expect(read(plainProject(), 'github', { env: env() })).rejects.toMatchObject({
    code,
    message,
    hint: expect.stringContaining('gh auth login'),
  })
})
