import { describe, expect, test } from 'vitest'
import { DelegateWorld } from '../delegate-world.ts'

const CONFLICT = { 'a.txt': 'ours\n' }

/** A delegate that conflicts with the current target. */
function conflicting(world: DelegateWorld, name = 'one') {
  const delegate = world.delegate(name, { commits: [CONFLICT] })
  world.project.commit('theirs', { 'a.txt': 'theirs\n' })
  return delegate
}

describe('work that conflicts with the target', () => {
  test('is marked conflicted with the paths and the target commit, and the others are still merged', async () => {
    const world = new DelegateWorld()
    const one = conflicting(world)
    const two = world.delegate('two')
    const onto = world.commitOf('main')
    const tip = one.tip()
    const outcomes = await world.merge([one, two])
    expect(outcomes).toMatchObject([
      { how: 'conflicted', files: ['a.txt'], next: 'stint delegate retry one' },
      { how: 'merged', name: 'two' },
    ])
    expect(one.state()).toMatchObject({
      status: 'conflicted',
      rejected: 1,
      move: { target: 'main', onto, files: ['a.txt'] },
    })
    expect(one.tip()).toBe(tip)
    expect(world.worktrees()).toEqual([one.tree])
    expect(world.project.read('a.txt')).toBe('theirs\n')
  })

  test('is merged when it is named again and no longer conflicts', async () => {
    const world = new DelegateWorld()
    const one = conflicting(world)
    await world.merge([one])
    one.commit({ 'b.txt': 'b\n' })
    expect((await world.mergeOne(one)).how).toBe('conflicted')
    // Resolved by hand, as the user would.
    world.project.git('-C', one.tree, 'merge', '--quiet', '-X', 'ours', 'main')
    expect(await world.mergeOne(one)).toMatchObject({
      how: 'merged',
      commit: world.commitOf('main'),
    })
    expect(world.project.read('a.txt')).toBe('ours\n')
  })

  test("does not touch the user's recorded conflict resolutions", async () => {
    const world = new DelegateWorld()
    world.project.git('config', 'rerere.enabled', 'true')
    const one = conflicting(world)
    await world.merge([one])
    expect(world.project.names('.git', 'rr-cache')).toEqual([])
  })
})

describe('work that is red on the target', () => {
  const VERIFY = 'echo looked; ! { test -e one.txt && test -e two.txt; }'

  test('fails with the verify output, though it was green on its own branch', async () => {
    const world = new DelegateWorld()
    world.config(`verify: '${VERIFY}'\n`)
    const one = world.delegate('one')
    const two = world.delegate('two')
    const [first, second] = await world.merge([one, two])
    expect(first!.how).toBe('merged')
    expect(second).toMatchObject({
      how: 'red',
      because: `${VERIFY} ended with 1`,
      next: 'stint delegate retry two',
    })
    const onto = world.commitOf('main')
    expect(two.state()).toMatchObject({
      status: 'failed',
      rejected: 1,
      move: { target: 'main', onto, verify: { command: VERIFY, exit: 1, output: 'looked' } },
    })
    expect(world.events).toContainEqual(
      expect.objectContaining({
        kind: 'verify.ended',
        delegate: 'two',
        data: expect.objectContaining({ passed: false }),
      }),
    )
  })

  test('includes work whose verify command leaves changes, since it verified something not committed', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one', { verify: 'echo changed > a.txt' })
    expect(await world.mergeOne(one)).toMatchObject({
      how: 'red',
      because: 'after echo changed > a.txt: not committed: a.txt',
    })
  })

  test('includes work whose verify command commits', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one', { verify: 'git commit --quiet --allow-empty -m more' })
    const outcome = await world.mergeOne(one)
    expect(outcome.how).toBe('red')
    expect(outcome.because).toContain('HEAD is on no branch')
  })

  test('does not include ignored output or what the set-up left', async () => {
    const world = new DelegateWorld()
    world.project.commit('ignore', { '.gitignore': 'built\n' })
    world.config(
      'verify: echo v > built && test -e installed\ndelegates: { setup: echo s > installed }\nrun: { setup: "false" }\n',
    )
    const one = world.delegate('one')
    expect((await world.mergeOne(one)).how).toBe('merged')
    expect(world.events.map(({ kind }) => kind)).toEqual([
      'merge.started',
      'setup.started',
      'verify.started',
      'verify.ended',
      'merge.ended',
    ])
  })

  test('includes work whose set-up command fails', async () => {
    const world = new DelegateWorld()
    world.config('verify: "true"\nrun: { setup: "echo no such thing; exit 3" }\n')
    const one = world.delegate('one')
    expect(await world.mergeOne(one)).toMatchObject({
      how: 'red',
      because: expect.stringContaining('set-up') as string,
    })
    expect(one.state().move?.verify).toMatchObject({ exit: 3, output: 'no such thing' })
  })

  test("is checked by the task's verify command, else the delegate's, else the configured one", async () => {
    const world = new DelegateWorld()
    world.config('verify: exit 3\n')
    const task = await world.project.run((project) =>
      project.tasks.add({ title: 'One', verify: 'exit 1' }),
    )
    const one = world.delegate('one', { order: { task: task.id }, verify: 'exit 2' })
    const two = world.delegate('two', { verify: 'exit 2' })
    const three = world.delegate('three')
    const outcomes = await world.merge([one, two, three])
    expect(outcomes.map(({ because }) => because)).toEqual([
      'exit 1 ended with 1',
      'exit 2 ended with 2',
      'exit 3 ended with 3',
    ])
  })

  test('is not checked without a verify command, which is reported once', async () => {
    const world = new DelegateWorld()
    await world.merge([world.delegate('one'), world.delegate('two')])
    expect(world.mergeMessages().filter((text) => text.includes('no verify command'))).toHaveLength(
      1,
    )
  })
})

describe('rejected work', () => {
  test('is returned for rework as often as configured, then parked with the commands to merge by hand', async () => {
    const world = new DelegateWorld()
    world.config('delegates: { send_back: 1 }\n')
    const one = conflicting(world)
    const sent: string[] = []
    const sendBack = async (id: string) => void sent.push(id)
    expect(await world.mergeOne(one, { sendBack })).toMatchObject({
      how: 'conflicted',
      isSentBack: true,
    })
    expect(await world.mergeOne(one, { sendBack })).toMatchObject({
      how: 'parked',
      files: ['a.txt'],
      next: `git -C ${one.tree} merge main, then stint merge one`,
    })
    expect(sent).toEqual([one.id])
    expect(one.steps()).toEqual([
      'ready',
      'merge.begun',
      'conflicted',
      'merge.begun',
      'conflicted',
      'parked',
    ])
    expect(one.state().move).toMatchObject({
      to: 'parked',
      target: 'main',
      onto: world.commitOf('main'),
      files: ['a.txt'],
    })
  })

  test('stays unchanged when it cannot be returned, and the queue continues', async () => {
    const world = new DelegateWorld()
    const one = conflicting(world)
    const two = world.delegate('two')
    const sendBack = async () => {
      throw new Error('no agent there')
    }
    const outcomes = await world.merge([one, two], { sendBack })
    expect(outcomes[0]).toMatchObject({
      how: 'conflicted',
      because: expect.stringContaining('no agent there') as string,
    })
    expect(outcomes[0]!.isSentBack).toBeUndefined()
    expect(outcomes[1]!.how).toBe('merged')
    expect(one.state().status).toBe('conflicted')
  })
})
