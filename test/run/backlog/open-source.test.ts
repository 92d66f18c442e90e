import { mkdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { gitProject, plainProject } from '../../support/project.ts'
import { named, read, sourceOf, told, workOn, worktree } from './world.ts'

test('without a word the backlog is .tasks, and settling a task changes no file', async () => {
  const world = gitProject()
  await world.run((project) => project.tasks.add({ title: 'Fix the login P1' }))
  const source = await sourceOf(world, undefined)
  expect(source.name).toBe('.tasks')
  const backlog = await source.read()
  expect(told(backlog)).toEqual(['fix-the-login ready'])
  expect(await source.complete(backlog.tasks[0]!, 'done', world.root)).toEqual([])
})

test.each(['.tasks', '.tasks/', './.tasks'])('%s means the same', async (word) => {
  expect((await sourceOf(gitProject(), word)).name).toBe('.tasks')
})

test('looking at a backlog makes no folder', async () => {
  const world = plainProject()
  world.write('plan.jsonl', '{"id":"t1","title":"One"}\n')
  await read(world, 'plan.jsonl')
  await read(world, undefined)
  expect(world.names()).toEqual(['plan.jsonl'])
})

test.each(['plan.txt', 'jira', '', '-', 'beads.db'])(
  '%j is refused with what there is to choose from',
  async (word) => {
    await expect(sourceOf(plainProject(), word)).rejects.toMatchObject({
      code: 'BACKLOG_UNKNOWN',
      hint: expect.stringContaining('beads, or github'),
    })
  },
)

test('a file that is not there, a folder, and bytes that are no text are each an error that says so', async () => {
  const world = plainProject()
  await expect(sourceOf(world, 'no.jsonl')).rejects.toMatchObject({ code: 'BACKLOG_NOT_FOUND' })
  mkdirSync(world.path('dir.md'))
  await expect(read(world, 'dir.md')).rejects.toMatchObject({ code: 'BACKLOG_UNREADABLE' })
  world.write('latin.md', Buffer.from('- [ ] caf\xE9\n', 'latin1'))
  await expect(read(world, 'latin.md')).rejects.toMatchObject({ code: 'BACKLOG_UNREADABLE' })
})

test('what journals say of a task from elsewhere is its status, and tasks of .tasks stay out', async () => {
  const world = gitProject()
  world.write(
    'plan.jsonl',
    '{"id":"t1","title":"One"}\n{"id":"t2","title":"Two","depends_on":["t1"]}\n',
  )
  await world.run((project) => project.tasks.add({ title: 'Another backlog' }))
  await workOn(world, 'plan.jsonl/t1')
  const backlog = await read(world, 'plan.jsonl')
  expect(told(backlog)).toEqual(['t1 completed', 't2 ready <t1'])
  await workOn(world, 'plan.jsonl/t2', 'abandoned')
  expect(told(await read(world, 'plan.jsonl'))[1]).toBe('t2 ready <t1')
})

test('what the source calls done is completed, and what it calls blocked is not made ready by a journal', async () => {
  const world = gitProject()
  world.write('plan.jsonl', '{"id":"t1","title":"One"}\n{"id":"t2","title":"Two"}\n')
  await workOn(world, 'plan.jsonl/t1', 'abandoned')
  await workOn(world, 'plan.jsonl/t2', 'abandoned')
  expect(told(await read(world, 'plan.jsonl'))).toEqual(['t1 ready', 't2 ready'])
  world.write(
    'plan.jsonl',
    '{"id":"t1","title":"One","status":"done"}\n{"id":"t2","title":"Two","status":"blocked"}\n',
  )
  expect(told(await read(world, 'plan.jsonl'))).toEqual(['t1 completed', 't2 blocked'])
})

test('what the source calls done is completed, also where a journal has it in progress', async () => {
  const world = gitProject()
  world.write('TODO.md', '- [x] One\n')
  await world.run((project) => project.init({ tasks: ['TODO.md/one'] }))
  expect(told(await read(world, 'TODO.md'))).toEqual(['one completed'])
})

test('a task that was begun here goes on although the source calls it blocked, and a completed one stays so', async () => {
  const world = gitProject()
  world.write(
    'plan.jsonl',
    '{"id":"t1","title":"One","status":"blocked"}\n{"id":"t2","title":"Two","status":"blocked"}\n',
  )
  await workOn(world, 'plan.jsonl/t2')
  await world.run((project) => project.init({ tasks: ['plan.jsonl/t1'] }))
  expect(told(await read(world, 'plan.jsonl'))).toEqual(['t1 in_progress', 't2 completed'])
})

test('the same file has the same ids from the main worktree, a linked one and a folder inside', async () => {
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

test('two files of one name outside the project do not share their tasks', async () => {
  const world = gitProject()
  const [one, other] = [plainProject(), plainProject()]
  for (const place of [one, other]) place.write('plan.jsonl', '{"id":"t1","title":"One"}\n')
  const first = named(await read(world, one.path('plan.jsonl')), 't1')
  expect(first.id).toMatch(/^plan\.jsonl~[0-9a-f]{6}\/t1$/)
  await workOn(world, first.id)
  expect(told(await read(world, one.path('plan.jsonl')))).toEqual(['t1 completed'])
  expect(told(await read(world, other.path('plan.jsonl')))).toEqual(['t1 ready'])
})
