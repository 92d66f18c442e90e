import { expect, test } from 'vitest'
import { processStartTime } from '../../src/harness/process/spawn-guarded.ts'
import { Workspace } from '../../src/project/store/workspace.ts'
import { Claims } from '../../src/run/loop/claims.ts'
import { refuseSecondRunner } from '../../src/run/loop/resume.ts'
import { RunSession } from '../../src/run/attempt/run-session.ts'
import { draftEntry } from '../../src/session/entries.ts'
import { RunWorld, doing } from './run-world.ts'

test('checks a task resumed after others against its own work only', async () => {
  const world = new RunWorld()
  const [one] = await world.tasks({ title: 'One', priority: 'P0' }, 'Two')
  await world.run({
    script: world.script({
      one: [[{ blocked: 'not yet' }], [{ lie: 'all done' }]],
      two: [doing('two')],
    }),
    maxTasks: 2,
  })
  await world.project.run((project) => project.tasks.move('one', 'ready'))
  const report = await world.run({ resume: true, maxTasks: 9 })
  expect(world.closings()[one!.id]).toBeUndefined()
  expect(await world.statuses()).toEqual({ one: 'failed', two: 'completed' })
  // Work done meanwhile stays.
  expect(world.subjects()).toEqual(['do two'])
  expect(report.how).toBe('waiting')
})

test('a task waits until the branch with its dependency is merged', async () => {
  const world = new RunWorld()
  await world.tasks('One')
  await world.tasks({ title: 'Two', dependsOn: ['one'] })
  await world.run({ once: true })
  const branch = world.branch()
  const apart = await world.run()
  expect(apart.how).toBe('waiting')
  expect(world.of('message').map(({ text }) => text)).toContain(
    `two waits: one was done on ${branch}, which is not merged here (git merge ${branch})`,
  )
  world.project.git('merge', '--quiet', branch)
  expect((await world.run()).how).toBe('finished')
})

test('does not close a task again that another run has closed', async () => {
  const world = new RunWorld()
  const [one] = await world.tasks('One')
  const script = world.script({ one: [[...doing('one'), { hang: true }], doing('one')] })
  const handle = await world.start({ script })
  await expect.poll(() => world.journalled('task.reported').length).toBe(1)
  handle.stop('now')
  const first = (await handle.ended).run
  expect((await world.run()).how).toBe('finished')
  await world.run({ resume: first })
  expect(world.closings()).toEqual({ [one!.id]: 1 })
})

test('a claim holds while its process lives, even against its own run', () => {
  const world = new RunWorld()
  world.project.write('.sessions/runs/.keep', '')
  const { paths } = new Workspace(world.project.root)
  const alive = { pid: process.pid, startedAt: processStartTime(process.pid), mark: '' }
  const gone = { pid: 2 ** 22 - 1, startedAt: '1', mark: '' }
  expect(new Claims(paths, 'first', gone).claim('task')).toBe(true)
  expect(new Claims(paths, 'second', alive).claim('task')).toBe(true)
  expect(
    new Claims(paths, 'first', {
      ...alive,
      pid: process.ppid,
      startedAt: processStartTime(process.ppid),
    }).claim('task'),
  ).toBe(false)
  expect(new Claims(paths, 'third', gone).claim('other')).toBe(true)
  expect(new Claims(paths, 'third', alive).claim('other')).toBe(true)
})

test('of two processes resuming a run at once, the first in its log continues', () => {
  const alive = (pid: number) => ({ pid, startedAt: processStartTime(pid), mark: '' })
  const resumed = (runner: ReturnType<typeof alive>) => ({
    id: '',
    at: '',
    kind: 'run.resumed' as const,
    data: { runner },
  })
  const [first, second] = [alive(process.ppid), alive(process.pid)]
  expect(() => refuseSecondRunner('run', [resumed(first), resumed(second)], first)).not.toThrow()
  expect(() => refuseSecondRunner('run', [resumed(first), resumed(second)], second)).toThrow(
    'was just resumed by process',
  )
})

test('asks again for a verify command that contained a secret', async () => {
  const world = new RunWorld()
  await world.tasks('One', 'Two')
  const secret = `ghp_${'a1B2'.repeat(9)}`
  await world.run({ once: true, verify: `echo ${secret}` })
  await expect(world.start({ resume: true, maxTasks: 9 })).rejects.toThrow('had a secret in it')
  expect((await world.run({ resume: true, maxTasks: 9, verify: 'true' })).how).toBe('finished')
})

test('a run in place refuses to start where the user has an active session on that branch', async () => {
  const world = new RunWorld()
  await world.tasks('One')
  await world.project.run((project) => project.init({ name: 'mine' }))
  await expect(world.start({ isInPlace: true })).rejects.toThrow('mine is active on main')
  expect(world.runs()).toEqual([])
})

test('records no end for a conversation missing from the journal', async () => {
  const world = new RunWorld()
  const [one] = await world.tasks('One')
  const session = await RunSession.open(new Workspace(world.project.root), one!, 'the goal')
  session.recordConversationEnd('unheard', 'its runner was killed')
  session.append([
    draftEntry('conversation.joined', {
      conversation: 'heard',
      harness: 'rehearsal',
      source: 'run',
    }),
  ])
  session.recordConversationEnd('heard', 'its runner was killed')
  session.release()
  expect(world.journalled('conversation.ended').map(({ data }) => data['conversation'])).toEqual([
    'heard',
  ])
})
