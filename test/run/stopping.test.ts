import { expect, test } from 'vitest'
import { RunWorld } from './run-world.ts'

test('a run stopped while it verifies ends as interrupted and resumes where it was', async () => {
  const world = new RunWorld()
  await world.tasks('One')
  const handle = await world.start({ verify: 'sleep 987' })
  await expect.poll(() => world.of('verify.started').length).toBe(1)
  handle.stop('now')
  expect((await handle.ended).how).toBe('interrupted')
  expect((await world.run({ resume: true, verify: 'true' })).how).toBe('finished')
  expect(Object.values(world.closings())).toEqual([1])
  expect(world.subjects()).toEqual(['rehearse one'])
})

test('a run stopped during worktree set-up sends no prompt, and repeats the set-up when resumed', async () => {
  const world = new RunWorld()
  world.config('run:\n  setup: test -f ready || { touch ready-once; sleep 987; }\n')
  await world.tasks('One')
  const handle = await world.start()
  await expect.poll(() => world.of('message').length).toBeGreaterThan(0)
  handle.stop('now')
  expect((await handle.ended).how).toBe('interrupted')
  expect(world.of('conversation.opened')).toEqual([])
  world.config('run:\n  setup: git rev-parse HEAD > /dev/null && rm -f ready-once\n')
  expect((await world.run({ resume: true })).how).toBe('finished')
})

test('a failing set-up command ends the run with its output', async () => {
  const world = new RunWorld()
  world.config('run:\n  setup: echo no such package; exit 3\n')
  await world.tasks('One')
  const handle = await world.start()
  await expect(handle.ended).rejects.toThrow('no such package')
  expect(world.of('conversation.opened')).toEqual([])
})

test('stops an agent that repeats the same error, unless files change in between', async () => {
  const world = new RunWorld()
  await world.tasks({ title: 'Stuck', priority: 'P0' }, 'Moving')
  const failing = { run: 'echo 3 tests failed; exit 1' }
  // The runner reads the files after each failure.
  const edit = (text: string) => [world.untilHandled(), { run: `echo ${text} >> code.txt` }]
  const script = world.script({
    stuck: [[failing, failing, failing, { hang: true }]],
    moving: [
      [
        ...['a', 'b', 'c', 'd'].flatMap((text) => [...edit(text), failing]),
        { commit: 'moving' },
        { done: 'moved' },
      ],
    ],
  })
  await world.run({ script, onFailure: 'continue' })
  expect(world.of('breaker.tripped').map(({ task, which }) => [task.name, which])).toEqual([
    ['stuck', 'same error'],
  ])
  expect(await world.statuses()).toEqual({ stuck: 'failed', moving: 'completed' })
})

test('starts a fresh conversation after turns that change nothing', async () => {
  const world = new RunWorld()
  await world.tasks('One')
  await world.run({ script: world.script({ one: [[{ say: 'I am thinking' }]] }) })
  expect(world.of('breaker.tripped')[0]).toMatchObject({ which: 'no change' })
})
