import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { discardDelegate, stopDelegate } from '../../src/run/control/delegate-operations.ts'
import { git, initRepository, scratchFolder } from '../support/scratch.ts'
import { type Delegate, DelegateWorld } from './delegate-world.ts'

const discard = (world: DelegateWorld, one: Delegate) =>
  discardDelegate(world.workspace(), one.state())

function commitIn(folder: string): void {
  git(
    folder,
    '-c',
    'user.name=T',
    '-c',
    'user.email=t@example.invalid',
    'commit',
    '--quiet',
    '--allow-empty',
    '-m',
    'mine',
  )
}

function withSubmodule() {
  const library = scratchFolder()
  initRepository(library)
  git(library, 'commit', '--quiet', '--allow-empty', '-m', 'first')
  const world = new DelegateWorld()
  const add = [
    '-c',
    'protocol.file.allow=always',
    'submodule',
    '--quiet',
    'add',
    library,
    'library',
  ]
  world.project.git(...add)
  world.project.git('commit', '--quiet', '-m', 'with a library')
  const one = world.delegate('one')
  const initialise = () =>
    execFileSync(
      'git',
      ['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'update', '--init'],
      { cwd: one.tree },
    )
  return { world, one, initialise }
}

test('keeps worktree and branch of a discarded delegate that holds ignored files no build makes', async () => {
  const world = new DelegateWorld()
  const one = world.delegate('one', { commits: [{ '.gitignore': 'data/\nnode_modules/\n' }] })
  one.write('data/result.csv', '1,2\n')
  one.write('node_modules/x.js', '1')
  const { status, move } = await discard(world, one)
  expect({ status, left: move?.left }).toEqual({ status: 'discarded', left: ['data/'] })
  expect(move?.because).toContain(
    `its worktree ${one.tree} is left, as it holds what is in no commit: data`,
  )
  expect(world.messages.join('\n')).toContain(`one: its worktree ${one.tree} is left`)
  expect(readFileSync(join(one.tree, 'data/result.csv'), 'utf8')).toBe('1,2\n')
  expect(world.references('refs/heads')).toContain('refs/heads/stint/one')
})

test('removes the worktree of a discarded delegate that holds only build output', async () => {
  const world = new DelegateWorld()
  const one = world.delegate('one', { commits: [{ '.gitignore': 'node_modules/\n' }] })
  one.write('node_modules/x.js', '1')
  one.write('loose.txt', 'found')
  expect((await discard(world, one)).move?.left).toBeUndefined()
  expect(existsSync(one.tree)).toBe(false)
  expect(world.references('refs/heads')).toEqual(['refs/heads/main'])
  expect(world.project.git('show', `refs/stint/runs/${one.id}/discarded:loose.txt`)).toBe('found')
})

test('reports files too large to commit and nested repositories, and keeps them on discard', async () => {
  const world = new DelegateWorld()
  const one = world.delegate('one', { status: 'running' })
  one.write('big.bin', '')
  truncateSync(join(one.tree, 'big.bin'), 51 * 1024 * 1024)
  mkdirSync(join(one.tree, 'own'))
  initRepository(join(one.tree, 'own'))
  git(join(one.tree, 'own'), 'commit', '--quiet', '--allow-empty', '-m', 'first')
  one.write('small.txt', 'small')
  const settled = await stopDelegate(world.workspace(), one.state())
  expect(settled).toMatchObject({ status: 'failed', move: { left: ['big.bin', 'own/'] } })
  expect(settled.move?.because).toContain('; could not be committed: big.bin, own/')
  expect(world.messages.join('\n')).toContain(
    `could not be committed: big.bin, own/; it is still in ${one.tree}`,
  )
  expect(git(one.tree, 'show', 'HEAD:small.txt')).toBe('small')
  expect((await discard(world, one)).move?.left).toEqual(['big.bin', 'own/'])
  expect([
    existsSync(join(one.tree, 'big.bin')),
    existsSync(join(one.tree, 'own', '.git')),
  ]).toEqual([true, true])
})

test.each(['checked out', 'put away again'])(
  'keeps commits in a submodule that is %s when its delegate is discarded',
  async (how) => {
    const { world, one, initialise } = withSubmodule()
    initialise()
    commitIn(join(one.tree, 'library'))
    one.commit({ 'a.txt': 'with the library further on' })
    if (how === 'put away again')
      git(one.tree, 'submodule', '--quiet', 'deinit', '--force', 'library')
    expect((await discard(world, one)).move?.left).toEqual(['library'])
    expect(existsSync(one.tree)).toBe(true)
  },
)

test('keeps commits in a submodule when the delegate is merged', async () => {
  const { world, one, initialise } = withSubmodule()
  initialise()
  commitIn(join(one.tree, 'library'))
  one.commit({ 'a.txt': 'with the library further on' })
  expect(await world.mergeOne(one)).toMatchObject({ how: 'merged' })
  expect(world.mergeMessages().join('\n')).toContain(
    'is left, as it holds what is in no commit: library',
  )
  expect(git(join(one.tree, 'library'), 'log', '-1', '--format=%s').trim()).toBe('mine')
})

test.each([true, false])(
  "removes a merged delegate's worktree whose submodules have no commits of their own (initialised: %s)",
  async (isInitialised) => {
    const { world, one, initialise } = withSubmodule()
    if (isInitialised) initialise()
    expect(await world.mergeOne(one)).toMatchObject({ how: 'merged' })
    expect(existsSync(one.tree)).toBe(false)
    expect(world.references('refs/heads')).toEqual(['refs/heads/main'])
  },
)
