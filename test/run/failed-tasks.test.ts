import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { TaskReport } from '../../src/run/entries.ts'
import { RunWorld, doing } from './run-world.ts'

const FIRST = { title: 'One', priority: 'P0' } as const

function reportOf(world: RunWorld, name: string): TaskReport {
  const { sessions } = world.of('run.report').at(-1)!
  return sessions.flatMap(({ tasks }) => tasks).findLast(({ task }) => task.name === name)!
}

function treeOf(world: RunWorld): string {
  return (world.logged('run.started')[0]!.data as { tree: string }).tree
}

test("keeps the other branch an agent failed on, and starts the next task on the run's branch", async () => {
  const world = new RunWorld()
  world.project.git('branch', 'precious')
  await world.tasks(FIRST, 'Two')
  const one = [
    { run: 'git switch --quiet precious' },
    { write: { path: 'mine.txt', text: 'mine' } },
    { commit: 'mine' },
    { failed: 'lost' },
  ]
  await world.run({
    script: world.script({ one: [one], two: [doing('two')] }),
    onFailure: 'continue',
  })
  expect(await world.statuses()).toEqual({ one: 'failed', two: 'completed' })
  expect(world.subjects('precious')).toEqual(['mine'])
  expect(world.subjects()).toEqual(['do two'])
})

test.each([
  [
    'an orphan branch',
    'git checkout --quiet --orphan x',
    'HEAD is on x, a branch without a commit',
  ],
  ['no branch', 'git checkout --quiet --detach', 'HEAD is on no branch, at'],
  ['a worktree that is gone', 'rm -rf "$PWD"', 'the worktree was taken away'],
])('an agent that leaves %s behind fails, and the others are done', async (_, command, reason) => {
  const world = new RunWorld()
  await world.tasks(FIRST, 'Two')
  const script = world.script({
    one: [[{ run: command }, { done: 'all is well' }]],
    two: [doing('two')],
  })
  await world.run({ script, onFailure: 'continue' })
  expect(await world.statuses()).toEqual({ one: 'failed', two: 'completed' })
  expect(world.of('task.parked')[0]!.reason).toContain(reason)
  expect(world.subjects()).toEqual(['do two'])
})

test('restores a worktree the agent removed, with its commits, in a fresh conversation', async () => {
  const world = new RunWorld()
  await world.tasks('One')
  const lost = [
    { write: { path: 'b.txt', text: 'b' } },
    { commit: 'half' },
    { run: 'rm -rf "$PWD"' },
    { done: 'one' },
  ]
  expect((await world.run({ script: world.script({ one: [lost, doing('one')] }) })).how).toBe(
    'finished',
  )
  expect(world.of('attempt.started').map(({ place }) => place)).toEqual([
    'live conversation',
    'fresh conversation',
  ])
  expect(world.subjects()).toEqual(['half', 'do one'])
})

test('resumes a run that ended with HEAD on an orphan branch', async () => {
  const world = new RunWorld()
  await world.tasks('One')
  const lost = [
    { run: 'git checkout --quiet --orphan x' },
    { limit: new Date(Date.now() + 1000).toISOString() },
  ]
  const script = world.script({ one: [lost, [{ failed: 'lost' }], doing('one')] })
  expect((await world.run({ script, onLimit: 'end' })).how).toBe('usage limit')
  expect((await world.run({ resume: true, onFailure: 'continue' })).how).toBe('waiting')
  expect(await world.statuses()).toEqual({ one: 'failed' })
  expect(world.subjects()).toEqual([])
})

test.each(['--skip-worktree', '--assume-unchanged'])(
  'does not accept a change hidden from git with %s as proof',
  async (bit) => {
    const world = new RunWorld()
    await world.tasks('One')
    const hide = [{ run: `git update-index ${bit} a.txt && echo fixed > a.txt` }, ...doing('one')]
    await world.run({
      script: world.script({ one: [hide] }),
      verify: 'grep fixed a.txt',
      onFailure: 'continue',
    })
    const [parked] = world.of('task.parked')
    expect(parked!.reason).toBe(
      'git was told not to look for changes (skip-worktree or assume-unchanged) in: a.txt',
    )
    expect(world.project.git('show', `${parked!.kept}:a.txt`)).toBe('fixed\n')
  },
)

test('keeps the worktree of a finished run that holds ignored results, and reports it', async () => {
  const world = new RunWorld()
  world.project.commit('ignore', { '.gitignore': 'out/\n.sessions/\n' })
  await world.tasks('One')
  const script = world.script({
    one: [[{ write: { path: 'out/result.csv', text: '1,2' } }, ...doing('one')]],
  })
  expect((await world.run({ script })).how).toBe('finished')
  expect(existsSync(join(treeOf(world), 'out', 'result.csv'))).toBe(true)
  expect(world.of('message').map(({ text }) => text)).toContainEqual(
    expect.stringContaining('holds what is in no commit: out/'),
  )
})

test('does not count files that could not be saved against the next task', async () => {
  const world = new RunWorld()
  await world.tasks(FIRST, 'Two', 'Three')
  const nested = [
    { run: 'git init --quiet nested && echo n > nested/n.txt' },
    { failed: 'too hard' },
  ]
  // `git add -A` fails on a nested repository without a commit.
  const commit = (name: string) => [
    { write: { path: name, text: name } },
    { run: `git add ${name} && git commit -qm ${name}` },
  ]
  const script = world.script({
    one: [nested],
    two: [[...commit('two.txt'), { write: { path: 'more.txt', text: '' } }, { done: 'two' }]],
    three: [[...commit('three.txt'), { done: 'three' }]],
  })
  await world.run({ script, onFailure: 'continue' })
  expect(world.of('task.parked').map(({ task, reason }) => [task.name, reason])).toEqual([
    ['one', 'reported as failed: too hard'],
    ['two', 'not committed: more.txt'],
  ])
  expect(await world.statuses()).toEqual({ one: 'failed', two: 'failed', three: 'completed' })
  expect(reportOf(world, 'two').kept).toBeDefined()
})

test('saves and keeps the files of a task that failed in place, and ends the run', async () => {
  const world = new RunWorld()
  await world.tasks(FIRST, 'Two')
  const half = [
    { write: { path: 'half.txt', text: 'half' } },
    { commit: 'half' },
    { write: { path: 'a.txt', text: 'the user' } },
  ]
  const script = world.script({ one: [[...half, { failed: 'too hard' }]], two: [doing('two')] })
  const report = await world.run({ script, isInPlace: true, onFailure: 'continue' })
  expect(report.how).toBe('task failed')
  expect(world.project.read('a.txt')).toBe('the user')
  expect(world.project.git('log', '-1', '--format=%s').trim()).toBe('half')
  expect(world.project.git('show', `${reportOf(world, 'one').kept}:a.txt`)).toBe('the user')
  expect(world.of('message').at(-1)!.text).toContain('the checkout is left as it is')
  await expect(world.start({ resume: true })).rejects.toThrow('may be yours: a.txt')
  world.project.git('commit', '--quiet', '-am', 'mine')
  expect((await world.run({ resume: true })).how).toBe('waiting')
  expect(await world.statuses()).toEqual({ one: 'failed', two: 'completed' })
  expect(world.project.git('log', '--reverse', '--format=%s').trim().split('\n')).toEqual([
    'first',
    'start',
    'half',
    'mine',
    'do two',
  ])
})

test('continues with the others after a task that fails in place and leaves nothing', async () => {
  const world = new RunWorld()
  await world.tasks(FIRST, 'Two')
  const script = world.script({ one: [[{ failed: 'too hard' }]], two: [doing('two')] })
  await world.run({ script, isInPlace: true, onFailure: 'continue' })
  expect(await world.statuses()).toEqual({ one: 'failed', two: 'completed' })
})

test('does not touch a checkout whose branch the user switched, and ends the run', async () => {
  const world = new RunWorld()
  await world.tasks(FIRST, 'Two')
  const away = [
    { run: 'git switch --quiet -c elsewhere' },
    { write: { path: 'x.txt', text: 'x' } },
    { commit: 'x' },
    { done: 'x' },
  ]
  const report = await world.run({
    script: world.script({ one: [away] }),
    isInPlace: true,
    onFailure: 'continue',
  })
  expect(report.how).toBe('task failed')
  expect(world.of('message').at(-1)!.text).toContain('HEAD of the checkout was moved to elsewhere')
  expect(world.subjects('elsewhere')).toEqual(['x'])
  expect(world.project.git('branch', '--show-current').trim()).toBe('elsewhere')
  await expect(world.start({ resume: true })).rejects.toThrow('is on elsewhere and not on main')
})

test('resumes a run in place only on exactly the files it left', async () => {
  const world = new RunWorld()
  await world.tasks('One')
  const half = [
    { write: { path: 'half.txt', text: 'half' } },
    { limit: new Date(Date.now() + 1000).toISOString() },
  ]
  const script = world.script({ one: [half, doing('one')] })
  expect((await world.run({ script, isInPlace: true, onLimit: 'end' })).how).toBe('usage limit')
  writeFileSync(world.project.path('half.txt'), 'changed by the user')
  await expect(world.start({ resume: true })).rejects.toThrow('may be yours: half.txt')
  expect(world.project.read('half.txt')).toBe('changed by the user')
  writeFileSync(world.project.path('half.txt'), 'half')
  expect((await world.run({ resume: true })).how).toBe('finished')
})

test("records where a blocked task's work is saved in the journal, the log and the report", async () => {
  const world = new RunWorld()
  await world.tasks(FIRST, 'Two')
  const script = world.script({
    one: [[{ write: { path: 'half.txt', text: 'half' } }, { blocked: 'no access' }]],
    two: [doing('two')],
  })
  await world.run({ script })
  const { kept, reason } = reportOf(world, 'one')
  expect(reason).toBe('no access')
  expect(world.project.git('show', `${kept}:half.txt`)).toBe('half')
  const moved = world.journalled('task.moved').find(({ data }) => data['status'] === 'blocked')!
  expect(moved.data['summary']).toBe(`no access (its work is kept as ${kept})`)
  expect(world.logged('attempt.ended')[0]!.data).toMatchObject({ outcome: 'blocked', kept })
  expect(world.subjects()).toEqual(['do two'])
})

test('saves unfinished work of a task that was closed elsewhere before starting another', async () => {
  const world = new RunWorld()
  await world.tasks(FIRST, 'Two')
  const half = [
    { write: { path: 'half.txt', text: 'half' } },
    { commit: 'half' },
    { write: { path: 'loose.txt', text: 'loose' } },
    { limit: new Date(Date.now() + 1000).toISOString() },
  ]
  const script = world.script({ one: [half], two: [doing('two')] })
  expect((await world.run({ script, onLimit: 'end' })).how).toBe('usage limit')
  await world.project.run((project) => project.tasks.move('one', 'completed'))
  expect((await world.run({ resume: true })).how).toBe('finished')
  expect(world.subjects()).toEqual(['do two'])
  const { kept } = world.logged('work.kept')[0]!.data as { kept: string }
  expect(world.project.git('show', `${kept}:loose.txt`)).toBe('loose')
  expect(world.project.git('show', `${kept}:half.txt`)).toBe('half')
  expect(world.of('message').map(({ text }) => text)).toContain(
    `one is not gone on with; its work is kept as ${kept}`,
  )
})

test('saves and rolls back the work of a task reported as blocked as the run ended before starting another', async () => {
  const world = new RunWorld()
  await world.tasks(FIRST, 'Two')
  const half = [
    { write: { path: 'half.txt', text: 'half' } },
    { commit: 'half' },
    { blocked: 'no access' },
    { hang: true },
  ]
  const handle = await world.start({ script: world.script({ one: [half], two: [doing('two')] }) })
  await expect.poll(() => world.journalled('task.reported').length).toBe(1)
  handle.stop('now')
  expect((await handle.ended).how).toBe('interrupted')
  expect((await world.run({ resume: true })).how).toBe('waiting')
  expect(await world.statuses()).toEqual({ one: 'blocked', two: 'completed' })
  expect(world.subjects()).toEqual(['do two'])
  expect(world.project.git('show', `${reportOf(world, 'one').kept}:half.txt`)).toBe('half')
})

test('rolls a task that is retried later back to its new start, not behind the work of others', async () => {
  const world = new RunWorld()
  await world.tasks(FIRST, 'Two', 'Three')
  const script = world.script({
    one: [[{ write: { path: 'x.txt', text: 'x' } }, { failed: 'too hard' }]],
    two: [doing('two')],
  })
  await world.run({ script, onFailure: 'continue', maxTasks: 2 })
  expect(world.subjects()).toEqual(['do two'])
  await world.run({ resume: true, tasks: ['one'], maxTasks: 1 })
  expect(world.of('task.parked')).toHaveLength(2)
  expect(world.subjects()).toEqual(['do two'])
})

const KILLED_GIT = {
  run: 'touch "$(git rev-parse --git-dir)/index.lock" "$(git rev-parse --git-dir)/HEAD.lock"',
}

test('removes lock files of a killed git before the next conversation', async () => {
  const world = new RunWorld()
  await world.tasks('One', 'Two')
  const killed = [{ write: { path: 'one.txt', text: '1' } }, KILLED_GIT, { die: true }]
  const again = [{ commit: 'do one' }, { done: 'one' }]
  await world.run({ script: world.script({ one: [killed, again, again], two: [doing('two')] }) })
  expect(world.failed()).toEqual([])
  expect(world.subjects()).toEqual(['do one', 'do two'])
})

test("removes lock files of a killed git before saving a failed task's work", async () => {
  const world = new RunWorld()
  await world.tasks(FIRST, 'Two')
  const failing = [{ write: { path: 'one.txt', text: '1' } }, KILLED_GIT, { failed: 'lost' }]
  await world.run({
    script: world.script({ one: [failing], two: [doing('two')] }),
    onFailure: 'continue',
  })
  expect(await world.statuses()).toEqual({ one: 'failed', two: 'completed' })
  expect(world.subjects()).toEqual(['do two'])
})
