import { mkdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { gitProject, plainProject } from '../../support/project.ts'
import { named, read, sourceOf, taskLines, workOn, worktree } from './world.ts'

test('defaults to .tasks, where completing a task changes no file', async () => {
  const world = gitProject()
  await world.run((project) => project.tasks.add({ title: 'Fix the login P1' }))
  const source = await sourceOf(world, undefined)
  expect(source.name).toBe('.tasks')
  const backlog = await source.read()
  expect(taskLines(backlog)).toEqual(['fix-the-login ready'])
  expect(await source.complete(backlog.tasks[0]!, 'done', world.root)).toEqual([])
})

test.each(['.tasks', '.tasks/', './.tasks'])('%s means the same', async (word) => {
  expect((await sourceOf(gitProject(), word)).name).toBe('.tasks')
})

test('reading a backlog creates no folder', async () => {
  const world = plainProject()
  world.write('plan.jsonl', '{"id":"t1","title":"One"}\n')
  await read(world, 'plan.jsonl')
  await read(world, undefined)
  expect(world.names()).toEqual(['plan.jsonl'])
})

test.each(['plan.txt', 'jira', '', '-', 'beads.db'])(
  'refuses %j and lists the valid choices',
  async (word) => {
    await expect(sourceOf(plainProject(), word)).rejects.toMatchObject({
      code: 'BACKLOG_UNKNOWN',
      hint: expect.stringContaining('beads, or github'),
    })
  },
)

test('reports a missing file, a folder and binary content each with its own error', async () => {
  const world = plainProject()
  await expect(sourceOf(world, 'no.jsonl')).rejects.toMatchObject({ code: 'BACKLOG_NOT_FOUND' })
  mkdirSync(world.path('dir.md'))
  await expect(read(world, 'dir.md')).rejects.toMatchObject({ code: 'BACKLOG_UNREADABLE' })
  world.write('latin.md', Buffer.from('- [ ] caf\xE9\n', 'latin1'))
  await expect(read(world, 'latin.md')).rejects.toMatchObject({ code: 'BACKLOG_UNREADABLE' })
})

test('takes the status of an external task from the journals, and leaves .tasks out', async () => {
  const world = gitProject()
  world.write(
    'plan.jsonl',
    '{"id":"t1","title":"One"}\n{"id":"t2","title":"Two","depends_on":["t1"]}\n',
  )
  await world.run((project) => project.tasks.add({ title: 'Another backlog' }))
  await workOn(world, 'plan.jsonl/t1')
  const backlog = await read(world, 'plan.jsonl')
  expect(taskLines(backlog)).toEqual(['t1 completed', 't2 ready <t1'])
  await workOn(world, 'plan.jsonl/t2', 'abandoned')
  expect(taskLines(await read(world, 'plan.jsonl'))[1]).toBe('t2 ready <t1')
})

test('completes what the source calls done, and no journal makes ready what the source calls blocked', async () => {
  const world = gitProject()
  world.write('plan.jsonl', '{"id":"t1","title":"One"}\n{"id":"t2","title":"Two"}\n')
  await workOn(world, 'plan.jsonl/t1', 'abandoned')
  await workOn(world, 'plan.jsonl/t2', 'abandoned')
  expect(taskLines(await read(world, 'plan.jsonl'))).toEqual(['t1 ready', 't2 ready'])
  world.write(
    'plan.jsonl',
    '{"id":"t1","title":"One","status":"done"}\n{"id":"t2","title":"Two","status":"blocked"}\n',
  )
  expect(taskLines(await read(world, 'plan.jsonl'))).toEqual(['t1 completed', 't2 blocked'])
})

test('completes what the source calls done even when a journal has it in progress', async () => {
  const world = gitProject()
  world.write('TODO.md', '- [x] One\n')
  await world.run((project) => project.init({ tasks: ['TODO.md/one'] }))
  expect(taskLines(await read(world, 'TODO.md'))).toEqual(['one completed'])
})

test('keeps the status of started and completed tasks that the source calls blocked', async () => {
  const world = gitProject()
  world.write(
    'plan.jsonl',
    '{"id":"t1","title":"One","status":"blocked"}\n{"id":"t2","title":"Two","status":"blocked"}\n',
  )
  await workOn(world, 'plan.jsonl/t2')
  await world.run((project) => project.init({ tasks: ['plan.jsonl/t1'] }))
  expect(taskLines(await read(world, 'plan.jsonl'))).toEqual(['t1 in_progress', 't2 completed'])
})

test('returns the same ids from the main worktree, a linked worktree and a subfolder', async () => {
  const world = gitProject()
  world.commit('plan', { 'plans/plan.jsonl': '{"id":"t1","title":"One"}\n' })
  const tree = worktree(world)
  const ids = await Promise.all([
    read(world, 'plans/plan.jsonl'),
    read(world, 'plans/plan.jsonl', { cwd: tree }),
    read(world, 'plan.jsonl', { cwd: world.path('plans') }),
  ])
  expect(ids.map((backlog) => backlog.tasks[0]!.id)).toEqual(
    Array.from({ length: 3 }, () => 'plans/plan.jsonl/t1'),
  )
})

test('keeps the tasks of two files with one name outside the project apart', async () => {
  const world = gitProject()
  const [one, other] = [plainProject(), plainProject()]
  for (const place of [one, other]) place.write('plan.jsonl', '{"id":"t1","title":"One"}\n')
  const first = named(await read(world, one.path('plan.jsonl')), 't1')
  expect(first.id).toMatch(/^plan\.jsonl~[0-9a-f]{6}\/t1$/)
  await workOn(world, first.id)
  expect(taskLines(await read(world, one.path('plan.jsonl')))).toEqual(['t1 completed'])
  expect(taskLines(await read(world, other.path('plan.jsonl')))).toEqual(['t1 ready'])
})
