import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { World, gitProject } from '../../support/project.ts'
import { git, scratchFolder } from '../../support/scratch.ts'
import { type Delegate, DelegateWorld } from '../delegate-world.ts'

/** The target and the delegate are unchanged. */
async function expectWaiting(
  world: DelegateWorld,
  delegate: Delegate,
  because: string,
  target = 'main',
) {
  const before = world.commitOf(target)
  const outcome = await world.mergeOne(delegate)
  expect(outcome).toMatchObject({
    how: 'waiting',
    next: `stint merge ${delegate.state().order.name}`,
  })
  expect(outcome.because).toContain(because)
  expect(world.commitOf(target)).toBe(before)
  const { ready, status } = delegate.state()
  expect({ status, ready }).toMatchObject({
    status: 'ready',
    ready: { commit: delegate.tip(), summary: expect.any(String) as string },
  })
}

describe('a checked-out target', () => {
  test('is not moved while its checkout has changes, which are listed, and is moved once they are gone', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one', { verify: 'true' })
    world.project.write('a.txt', 'mine\n')
    world.project.write('new.txt', 'mine\n')
    await expectWaiting(world, one, 'a.txt, new.txt')
    // Nor is the slow verify command run.
    expect(world.events.map(({ kind }) => kind)).not.toContain('verify.started')
    expect(world.project.read('a.txt')).toBe('mine\n')
    world.project.commit('mine')
    expect((await world.mergeOne(one)).how).toBe('merged')
    expect(world.project.read('new.txt')).toBe('mine\n')
  })

  test('is not moved when its checkout becomes dirty while the verify command runs', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one', { verify: `echo mine > ${world.project.path('a.txt')}` })
    await expectWaiting(world, one, 'a.txt')
    expect(one.steps()).toEqual(['ready', 'merge.begun', 'merge.landing', 'ready'])
    expect(world.references('refs/stint/runs')).toEqual([
      `refs/stint/runs/${one.id}/merge`,
      `refs/stint/runs/${one.id}/proved`,
    ])
  })

  test('is not moved over a file that git ignores', async () => {
    const world = new DelegateWorld()
    world.project.commit('ignore', { '.gitignore': '.env\n' })
    const one = world.delegate('one', { commits: [{ '.env': 'theirs\n' }] })
    world.project.write('.env', 'mine\n')
    await expectWaiting(world, one, '.env')
    expect(world.project.read('.env')).toBe('mine\n')
  })

  test.each([
    [
      'a merge',
      (project: World) => project.git('merge', '--no-commit', '--no-ff', '--quiet', 'other'),
    ],
    ['a cherry-pick', (project: World) => tryGit(project, 'cherry-pick', 'clash')],
    ['a bisection', (project: World) => project.git('bisect', 'start')],
  ])('is not moved during %s', async (_, begin) => {
    const world = new DelegateWorld()
    others(world)
    const one = world.delegate('one')
    begin(world.project)
    await expectWaiting(world, one, 'in the middle of')
  })

  test('is not moved while it is being rebased or bisected, though nothing has it checked out then', async () => {
    const world = new DelegateWorld()
    others(world)
    const one = world.delegate('one')
    tryGit(world.project, 'rebase', 'clash')
    expect(world.project.git('rev-parse', '--abbrev-ref', 'HEAD').trim()).toBe('HEAD')
    await expectWaiting(world, one, 'in the middle of a rebase')
    world.project.git('rebase', '--abort')
    world.project.git('bisect', 'start', 'HEAD', 'HEAD~1')
    world.project.git('checkout', '--quiet', '--detach')
    await expectWaiting(world, one, 'in the middle of a bisection')
    world.project.git('bisect', 'reset')
    expect((await world.mergeOne(one)).how).toBe('merged')
  })

  test('is moved together with the files of the linked worktree that has it', async () => {
    const world = new DelegateWorld()
    const linked = join(scratchFolder(), 'linked')
    world.project.git('worktree', 'add', '--quiet', '-b', 'side', linked)
    world.project.write('a.txt', 'the main checkout is dirty and on another branch\n')
    const one = world.delegate('one', { order: { target: 'side' } })
    writeFileSync(join(linked, 'loose.txt'), '')
    await expectWaiting(world, one, linked, 'side')
    rmSync(join(linked, 'loose.txt'))
    expect(await world.mergeOne(one)).toMatchObject({ how: 'merged', target: 'side' })
    expect(existsSync(join(linked, 'one.txt'))).toBe(true)
    expect(git(linked, 'status', '--porcelain')).toBe('')
  })

  test('is not moved when two worktrees have it', async () => {
    const world = new DelegateWorld()
    const linked = join(scratchFolder(), 'linked')
    world.project.git('worktree', 'add', '--quiet', '--force', linked, 'main')
    await expectWaiting(world, world.delegate('one'), 'more than once')
  })

  test('ignores a worktree whose folder is missing', async () => {
    const world = new DelegateWorld()
    const linked = join(scratchFolder(), 'linked')
    world.project.git('worktree', 'add', '--quiet', '-b', 'side', linked)
    rmSync(linked, { recursive: true })
    const one = world.delegate('one', { order: { target: 'side' } })
    expect((await world.mergeOne(one)).how).toBe('merged')
    expect(world.commitOf('side')).toBe(world.commitOf(one.state().move!.commit!))
  })
})

describe('a target that is not checked out', () => {
  test('is moved only by its ref, with a reflog message', async () => {
    const world = new DelegateWorld()
    world.project.git('branch', 'side')
    world.project.write('a.txt', 'dirty, and nobody cares\n')
    const one = world.delegate('one', { order: { target: 'side' } })
    expect(await world.mergeOne(one)).toMatchObject({
      how: 'merged',
      commit: world.commitOf('side'),
    })
    expect(world.project.git('reflog', 'show', 'side', '-1')).toContain('stint: merge delegate one')
    expect(world.project.read('a.txt')).toBe('dirty, and nobody cares\n')
  })

  test('in a bare repository is merged into', async () => {
    const origin = gitProject()
    const folder = scratchFolder()
    const bare = join(folder, 'project.git')
    origin.git('clone', '--quiet', '--bare', origin.root, bare)
    for (const [name, value] of [
      ['user.name', 'Test'],
      ['user.email', 'test@example.invalid'],
    ] as const)
      git(bare, 'config', name, value)
    const world = new DelegateWorld(new World(bare))
    const one = world.delegate('one')
    const two = world.delegate('two')
    expect((await world.merge([one, two])).map(({ how }) => how)).toEqual(['merged', 'merged'])
    expect(world.project.git('ls-tree', '--name-only', 'main').split('\n').filter(Boolean)).toEqual(
      ['a.txt', 'one.txt', 'two.txt'],
    )
  })

  test('or is missing makes the merge wait', async () => {
    const world = new DelegateWorld()
    world.project.git('branch', 'side')
    const one = world.delegate('one', { order: { target: 'side' } })
    world.project.git('branch', '-D', 'side')
    expect(await world.mergeOne(one)).toMatchObject({
      how: 'waiting',
      because: 'there is no branch side any more',
    })
    expect(one.steps()).toEqual(['ready'])
  })
})

describe('a target that moves during the merge', () => {
  // The verify command plays someone who commits meanwhile.
  const commitMeanwhile = (world: DelegateWorld, times: number) => {
    const { root } = world.project
    return `n=$(cat ../n 2>/dev/null || echo 0); echo $((n+1)) > ../n; [ "$n" -ge ${times} ] || git -C ${root} commit --quiet --allow-empty -m "meanwhile $n"`
  }

  test('is merged with again', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one', { verify: commitMeanwhile(world, 2) })
    expect(await world.mergeOne(one)).toMatchObject({
      how: 'merged',
      commit: world.commitOf('main'),
    })
    expect(one.steps().filter((step) => step === 'merge.begun')).toHaveLength(3)
    expect(world.project.git('log', '--format=%s', 'main')).toContain('meanwhile 1')
  })

  test('back to an older commit is not moved forward again', async () => {
    const world = new DelegateWorld()
    world.project.commit('dropped', { 'dropped.txt': '' })
    const { root } = world.project
    const verify = `[ -e ../once ] || { touch ../once; git -C ${root} reset --quiet --hard HEAD~1; }`
    const one = world.delegate('one', { verify })
    world.project.commit('dropped too', { 'too.txt': '' })
    expect((await world.mergeOne(one)).how).toBe('merged')
    expect(one.steps().filter((step) => step === 'merge.begun')).toHaveLength(2)
    expect(world.project.names()).not.toContain('too.txt')
  })

  test('repeatedly is not retried after the third time', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one', { verify: commitMeanwhile(world, 9) })
    expect(await world.mergeOne(one)).toMatchObject({
      how: 'waiting',
      because: expect.stringContaining('goes on') as string,
    })
    expect(one.state().status).toBe('ready')
    expect(one.steps().filter((step) => step === 'merge.begun')).toHaveLength(3)
    expect(world.project.git('log', '--format=%s', 'main')).toContain('meanwhile 2')
  })
})

test("runs no user hooks and signs nothing with the user's key", async () => {
  const world = new DelegateWorld()
  const { project } = world
  const delegates = [world.delegate('one'), world.delegate('two')]
  project.git('config', 'commit.gpgSign', 'true')
  project.git('config', 'gpg.program', '/bin/false')
  for (const hook of [
    'post-checkout',
    'pre-merge-commit',
    'commit-msg',
    'post-merge',
    'reference-transaction',
  ]) {
    project.write(
      `.git/hooks/${hook}`,
      `#!/bin/sh\necho ${hook} >> ${project.path('.git', 'hooks-run')}\nexit 1\n`,
    )
    chmodSync(project.path('.git', 'hooks', hook), 0o755)
  }
  expect((await world.merge(delegates)).map(({ how }) => how)).toEqual(['merged', 'merged'])
  expect(existsSync(project.path('.git', 'hooks-run'))).toBe(false)
})

function others(world: DelegateWorld): void {
  const { project } = world
  project.git('branch', 'other')
  project.git('branch', 'clash')
  project.commit('theirs', { 'a.txt': 'theirs\n' })
  for (const [branch, files] of [
    ['other', { 'o.txt': 'o\n' }],
    ['clash', { 'a.txt': 'clash\n' }],
  ] as const) {
    project.git('switch', '--quiet', branch)
    project.commit(branch, files)
  }
  project.git('switch', '--quiet', 'main')
}

/** Runs a command that stops half-way. */
function tryGit(project: World, ...args: string[]): void {
  try {
    project.git(...args)
  } catch {
    // As it was meant to.
  }
}
