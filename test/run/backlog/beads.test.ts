// bd is no npm package in itself (the one of that name downloads it from elsewhere), so it is stood in for by a program
// that prints issues written by hand in the shape that bd 1.0 documents. No real bd is run here.
import { expect, test } from 'vitest'
import { runForJson } from '../../../src/run/sources/run-program.ts'
import { nextTasks } from '../../../src/backlog/task-graph.ts'
import { gitProject, plainProject } from '../../support/project.ts'
import { documented, named, read, sourceOf, fakeProgram, taskLines, workOn } from './world.ts'

const bd = (more: Readonly<Record<string, string>> = {}) =>
  fakeProgram('bd', {
    ready: documented('bd-ready.json'),
    list: documented('bd-list.json'),
    close: '',
    ...more,
  })

test('reads beads issues (stand-in, documented shape) as tasks with the same dependencies', async () => {
  const { env, calls } = bd()
  const backlog = await read(gitProject(), 'beads', { env })
  expect(taskLines(backlog)).toEqual([
    'app-a3f8-1 ready',
    'app-k2m9 ready',
    'app-a3f8-2 ready <app-a3f8-1',
    'app-x7p1 blocked',
    'app-w4d0 blocked',
    'app-q9z5 blocked',
  ])
  expect(named(backlog, 'app-a3f8-1')).toMatchObject({
    id: 'beads/app-a3f8.1',
    title: 'Read the token from the header',
    description: 'The cookie stays for a release.',
    priority: 'P0',
    size: 'S',
    labels: ['app-a3f8', 'auth'],
    checklist: [
      { item: 'old cookie still works', done: false },
      { item: 'header documented', done: true },
    ],
    details:
      'Part of app-a3f8: Sign in by token\n\nDesign:\nOne middleware.\n\nAcceptance criteria:\nAnd it is logged.',
    createdAt: '2026-05-02T09:00:00Z',
  })
  expect(named(backlog, 'app-k2m9').priority).toBe('P3')
  expect(named(backlog, 'app-q9z5').summary).toBe('beads does not call it ready (open)')
  expect(nextTasks(backlog).tasks.map(({ task }) => task.shortname)).toEqual([
    'app-a3f8-1',
    'app-k2m9',
  ])
  expect(calls()).toEqual([
    ['ready', '--json', '--limit', '0'],
    ['list', '--json', '--limit', '0'],
  ])
})

test('reads beads output (stand-in, documented shape) in an envelope the same way', async () => {
  const wrapped = (name: string) =>
    JSON.stringify({ schema_version: 1, data: JSON.parse(documented(name)) })
  const { env } = bd({ ready: wrapped('bd-ready.json'), list: wrapped('bd-list.json') })
  const world = gitProject()
  expect((await read(world, 'beads', { env })).tasks).toEqual(
    (await read(world, 'beads', { env: bd().env })).tasks,
  )
})

test('completing a task closes the issue with any summary as one argument', async () => {
  const { env, calls } = bd()
  const world = gitProject()
  const source = await sourceOf(world, 'beads', { env })
  const task = named(await source.read(), 'app-a3f8-1')
  const secret = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`
  expect(
    await source.complete(task, `--force; $(touch x)\n"quoted" ${secret}`, world.root),
  ).toEqual([])
  const [close] = calls().slice(-1)
  expect(close!.slice(0, 2)).toEqual(['close', 'app-a3f8.1'])
  expect(close![2]).toMatch(/^--reason=--force; \$\(touch x\) "quoted" /)
  expect(close).toHaveLength(3)
  expect(close![2]).not.toContain(secret)
  await source.complete(task, ' ', world.root)
  expect(calls().at(-1)![2]).toBe('--reason=done')
})

test('an issue completed here stays completed until beads closes it', async () => {
  const world = gitProject()
  await workOn(world, 'beads/app-a3f8.1')
  expect(taskLines(await read(world, 'beads', { env: bd().env })).slice(0, 3)).toEqual([
    'app-a3f8-1 completed',
    'app-k2m9 ready',
    'app-a3f8-2 ready <app-a3f8-1',
  ])
})

test('skips an issue whose id could be read as an option or a path, and reports it', async () => {
  const issue = { title: 'Bad', status: 'open', priority: 1, issue_type: 'task' }
  const list = JSON.stringify([
    { ...issue, id: '--help' },
    { ...issue, id: '../x' },
    { ...issue, id: 'ok-1' },
    { ...issue },
    7,
  ])
  const world = gitProject()
  expect(taskLines(await read(world, 'beads', { env: bd({ ready: list, list }).env }))).toEqual([
    'ok-1 ready',
  ])
  expect(world.messages).toContain('beads has an issue with the id "--help", which was left out')
})

test.each([
  ['is missing', { PATH: '/nowhere' }, 'PROGRAM_MISSING', 'there is no program bd on the PATH'],
  [
    'prints no JSON',
    bdEnv({ ready: 'No open\u001B[1m issues\n' }),
    'PROGRAM_FAILED',
    'bd ready printed no JSON but: No open issues',
  ],
  ['prints nothing', bdEnv({ ready: '' }), 'PROGRAM_FAILED', 'bd ready printed nothing'],
  [
    'prints no list',
    bdEnv({ list: '{"data":{}}' }),
    'PROGRAM_FAILED',
    'bd list printed no list of issues',
  ],
  [
    'fails in JSON',
    bdEnv({ '!ready': '{"schema_version":1,"error":"no beads database found"}' }),
    'PROGRAM_FAILED',
    'bd ready failed: no beads database found',
  ],
  [
    'fails in plain text',
    bdEnv({ '!ready': 'Error: locked\n' }),
    'PROGRAM_FAILED',
    'bd ready failed: Error: locked',
  ],
  ['fails silently', bdEnv({ '!ready': '' }), 'PROGRAM_FAILED', 'bd ready failed: exit code 1'],
])('reports what to do about a bd that %s', async (_how, env, code, message) => {
  await expect(
    read(plainProject(), 'beads', { env: typeof env === 'function' ? env() : env }),
  ).rejects.toMatchObject({
    code,
    message,
    hint: expect.stringContaining('install beads'),
  })
})

function bdEnv(more: Readonly<Record<string, string>>): () => NodeJS.ProcessEnv {
  return () => bd(more).env
}

test('kills a program that does not end', async () => {
  const { env } = fakeProgram('bd', { sleep: '' })
  const surroundings = { cwd: plainProject().root, env, timeoutMs: 1000 }
  await expect(
    runForJson({ command: 'bd', hint: 'wait' }, ['ready', '--json'], surroundings),
  ).rejects.toMatchObject({
    code: 'PROGRAM_FAILED',
    message: 'bd ready failed: it took longer than 1 s',
  })
})
