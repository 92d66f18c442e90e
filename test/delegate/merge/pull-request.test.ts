// With a stand-in gh on the PATH, and a local repository as the remote.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { git, initRepository, scratchFolder } from '../../support/scratch.ts'
import { DelegateWorld } from '../delegate-world.ts'

const URL = 'https://example.invalid/pull/7'

/** Logs its calls, and reports an open pull request if given one. */
const GH = `#!/bin/sh
cd "$(dirname "$0")"
echo "$*" >> asked
case "$1 $2" in
'pr view') [ -e open ] && cat open || { echo 'no pull requests found' >&2; exit 1; } ;;
'pr create') cat > body; echo 'Creating pull request'; echo ${URL} ;;
esac
`

let bin = ''
beforeEach(() => {
  bin = join(scratchFolder(), 'bin')
  mkdirSync(bin)
  const before = process.env['PATH']
  process.env['PATH'] = [bin, before].join(delimiter)
  onTestFinished(() => void (process.env['PATH'] = before))
})

function installGh(): void {
  writeFileSync(join(bin, 'gh'), GH)
  chmodSync(join(bin, 'gh'), 0o755)
}

const asked = () =>
  existsSync(join(bin, 'asked')) ? readFileSync(join(bin, 'asked'), 'utf8').trim().split('\n') : []

function remote(world: DelegateWorld, name = 'origin'): string {
  const folder = join(scratchFolder(), 'remote.git')
  initRepository(folder)
  git(folder, 'config', 'receive.denyCurrentBranch', 'ignore')
  world.project.git('remote', 'add', name, folder)
  return folder
}

describe('a pull request', () => {
  test('is opened for the pushed branch, and the delegate stays ready with its URL', async () => {
    installGh()
    const world = new DelegateWorld()
    const folder = remote(world)
    const one = world.delegate('one')
    const main = world.commitOf('main')
    expect(await world.mergeOne(one, { isPullRequest: true })).toMatchObject({
      how: 'pull request',
      pr: URL,
      commit: one.tip(),
    })
    expect(git(folder, 'rev-parse', 'stint/one').trim()).toBe(one.tip())
    expect(world.project.git('config', 'branch.stint/one.remote').trim()).toBe('origin')
    expect(world.commitOf('main')).toBe(main)
    expect(one.state()).toMatchObject({
      status: 'ready',
      move: { pr: URL, commit: one.tip(), summary: 'one is written' },
    })
    expect(asked().at(-1)).toBe(
      'pr create --head stint/one --base main --title write one --body-file -',
    )
    expect(readFileSync(join(bin, 'body'), 'utf8')).toBe('write one\n\none is written\n')
  })

  test('that is already open is updated by the push and returned', async () => {
    installGh()
    writeFileSync(join(bin, 'open'), JSON.stringify({ url: `${URL}7`, state: 'OPEN' }))
    const world = new DelegateWorld()
    remote(world)
    const one = world.delegate('one')
    expect(await world.mergeOne(one, { isPullRequest: true })).toMatchObject({ pr: `${URL}7` })
    expect(asked().some((call) => call.startsWith('pr create'))).toBe(false)
    writeFileSync(join(bin, 'open'), JSON.stringify({ url: `${URL}7`, state: 'CLOSED' }))
    expect(await world.mergeOne(one, { isPullRequest: true })).toMatchObject({ pr: URL })
  })

  test("goes to the target's upstream, under the name it has there", async () => {
    installGh()
    const world = new DelegateWorld()
    remote(world)
    const fork = remote(world, 'fork')
    world.project.git('push', '--quiet', 'fork', 'main:trunk')
    world.project.git('branch', '--quiet', '--set-upstream-to', 'fork/trunk', 'main')
    const one = world.delegate('one')
    await world.mergeOne(one, { isPullRequest: true })
    expect(git(fork, 'rev-parse', 'stint/one').trim()).toBe(one.tip())
    expect(asked().at(-1)).toContain('--base trunk')
  })

  test('needs gh, which is checked before anything is pushed', async () => {
    const world = new DelegateWorld()
    const folder = remote(world)
    // A PATH with only git.
    const only = join(scratchFolder(), 'only')
    mkdirSync(only)
    const program = git(world.project.root, '--exec-path').trim()
    writeFileSync(join(only, 'git'), `#!/bin/sh\nexec ${program}/git "$@"\n`)
    chmodSync(join(only, 'git'), 0o755)
    const one = world.delegate('one')
    process.env['PATH'] = only
    await expect(world.merge([one], { isPullRequest: true })).rejects.toMatchObject({
      code: 'GH_MISSING',
    })
    expect(one.steps()).toEqual(['ready'])
    expect(git(folder, 'for-each-ref')).toBe('')
  })

  test('needs an unambiguous remote', async () => {
    installGh()
    const world = new DelegateWorld()
    const one = world.delegate('one')
    await expect(world.merge([one], { isPullRequest: true })).rejects.toMatchObject({
      code: 'NO_REMOTE',
    })
    remote(world, 'a')
    remote(world, 'b')
    await expect(world.merge([one], { isPullRequest: true })).rejects.toMatchObject({
      code: 'NO_REMOTE',
      message: 'no pull request can be opened: it is not known to which of a, b to push',
    })
  })

  test('whose push is refused leaves the delegate ready', async () => {
    installGh()
    const world = new DelegateWorld()
    remote(world)
    const one = world.delegate('one')
    await world.mergeOne(one, { isPullRequest: true })
    git(one.tree, 'commit', '--quiet', '--amend', '-m', 'rewritten')
    expect(await world.mergeOne(one, { isPullRequest: true })).toMatchObject({
      how: 'waiting',
      because: expect.stringContaining('non-fast-forward') as string,
    })
    expect(one.state().status).toBe('ready')
  })
})
