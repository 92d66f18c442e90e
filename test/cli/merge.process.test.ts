// Merging on the command line: real git, real verify commands, real terminals.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { DelegateRow } from '../../src/run/delegate/delegate-row.ts'
import { type MakeDelegate, DelegateWorld } from '../delegate/delegate-world.ts'
import { commandLine, program, terminal } from '../support/cli.ts'
import { expectNoneLeft } from '../support/processes.ts'
import type { MergeOutcome } from '../../src/run/entries.ts'

/** Finished delegates, and the command line. */
function world(config = '') {
  const delegateWorld = new DelegateWorld()
  const { project } = delegateWorld
  project.commit('start', { 'a.txt': 'a\n' })
  if (config !== '') delegateWorld.config(config)
  const { stint, run } = commandLine(project.root, process.env)
  const delegate = (name: string, options: MakeDelegate = {}) =>
    delegateWorld.delegate(name, options)
  const main = () => delegateWorld.commitOf('main')
  const statuses = async () => {
    const rows = (await stint('delegates', '--json')).json<DelegateRow[]>()
    return Object.fromEntries(rows.map(({ name, status }) => [name, status]))
  }
  return { delegateWorld, project, stint, run, delegate, main, statuses }
}

const CHANGES_A = (text: string): MakeDelegate => ({ commits: [{ 'a.txt': text }] })

describe('stint merge', () => {
  test('merges all ready delegates and prints progress and each outcome', async () => {
    const { stint, delegate, project, statuses } = world('verify: "test -f a.txt"\n')
    delegate('one')
    delegate('two', { order: { isReadOnly: true } })
    delegate('three')
    const ran = await stint('merge', '--all')
    expect(ran.exitCode).toBe(0)
    expect(ran.stdout).toMatch(
      /^✓ one merged into main at \w{7}\n✓ three merged into main at \w{7}\n2 merged\n$/,
    )
    expect(ran.stderr).toContain(
      'stint: one: merging into main\nstint: one: verifying with test -f a.txt\nstint: one: verified after',
    )
    expect(project.read('one.txt')).toBe('one\n')
    expect(project.read('three.txt')).toBe('three\n')
    expect(await statuses()).toEqual({ one: 'merged', two: 'ready', three: 'merged' })
  })

  test('merges each named delegate once, in the order of the arguments', async () => {
    const { stint, delegate } = world()
    delegate('one')
    delegate('two')
    const { outcomes } = (await stint('merge', 'two', 'one', 'two', '--json')).json<{
      outcomes: MergeOutcome[]
    }>()
    expect(outcomes).toMatchObject([
      { name: 'two', how: 'merged' },
      { name: 'one', how: 'merged' },
    ])
  })

  test('prints one object at the end with --json, and messages on stderr', async () => {
    const { stint, delegate } = world()
    delegate('one')
    const ran = await stint('merge', 'one', '--json')
    expect(ran.json()).toMatchObject({ outcomes: [{ name: 'one', how: 'merged', target: 'main' }] })
    expect(ran.stderr).toMatch(
      /stint: one: merging into main\n[^]*stint: ✓ one merged into main at \w{7}\n/,
    )
  })

  test('requires names or --all, and lists the ready delegates', async () => {
    const { stint, delegate, main } = world()
    delegate('one')
    delegate('two')
    const before = main()
    const ran = await stint('merge')
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' })
    expect(ran.stderr).toContain('2 delegates could be merged: one, two')
    expect(ran.stderr).toContain('stint merge --all')
    expect(main()).toBe(before)
  })

  test('merges the delegates of a group', async () => {
    const { stint, delegate, statuses } = world()
    delegate('one', { order: { group: 'release' } })
    delegate('two')
    expect((await stint('merge', '--group', 'release')).exitCode).toBe(0)
    expect(await statuses()).toEqual({ one: 'merged', two: 'ready' })
  })

  test('predicts the outcome with --dry-run and changes nothing', async () => {
    const { stint, delegate, main, statuses, project } = world()
    delegate('one', CHANGES_A('one\n'))
    delegate('two', CHANGES_A('two\n'))
    project.commit('meanwhile', { 'a.txt': 'meanwhile\n' })
    delegate('three')
    const before = main()
    const ran = await stint('merge', '--all', '--dry-run')
    expect(ran.exitCode).toBe(1)
    expect(ran.stdout).toContain('✗ one conflicted: ')
    expect(ran.stdout).toContain('✓ three would be merged into main')
    expect(await stint('merge', 'three', '--dry-run')).toMatchObject({ exitCode: 0 })
    expect(main()).toBe(before)
    expect(await statuses()).toEqual({ one: 'ready', two: 'ready', three: 'ready' })
  })

  test('keeps conflicting work with --no-send-back, merges the rest and prints the next step', async () => {
    const { stint, delegate, statuses } = world()
    delegate('one', CHANGES_A('one\n'))
    delegate('two', CHANGES_A('two\n'))
    delegate('three')
    const ran = await stint('merge', '--all', '--no-send-back')
    expect(ran.exitCode).toBe(1)
    expect(ran.stdout).toMatch(
      /✗ two conflicted: .*a\.txt.*\n {3}stint delegate retry two\n✓ three merged/,
    )
    expect(ran.stdout).toMatch(/\n2 merged, 1 conflicted\n$/)
    expect(await statuses()).toEqual({ one: 'merged', two: 'conflicted', three: 'merged' })
    expect((await stint('delegate', 'show', 'two')).stdout).toMatch(
      /Conflicts with main at \w{7} in a\.txt/,
    )
  })

  test('does not touch a dirty checkout, and reports it', async () => {
    const { stint, delegate, main, project } = world()
    delegate('one')
    project.write('a.txt', 'not committed\n')
    const before = main()
    const ran = await stint('merge', 'one')
    expect(ran.exitCode).toBe(1)
    expect(ran.stdout).toMatch(/○ one is ready, and main was not moved: .*a\.txt/)
    expect(main()).toBe(before)
    expect(project.read('a.txt')).toBe('not committed\n')
  })

  test('explains why a delegate is not ready and what to do', async () => {
    const { stint, delegate } = world()
    delegate('one', { order: { isReadOnly: true } })
    const ran = await stint('merge', 'one')
    expect(ran.exitCode).toBe(1)
    expect(ran.stdout).toMatch(/^○ one is not ready: .*\n {3}?.*stint delegate show one/)
  })

  test('shows no secret, even one configured later', async () => {
    const { stint, delegate, delegateWorld } = world()
    delegate('one', { verify: 'echo opal-1234; false' })
    delegateWorld.config('redact:\n  patterns: ["opal-[0-9]+"]\n')
    for (const form of [[], ['--json']]) {
      const ran = await stint('merge', 'one', '--no-send-back', ...form)
      expect(ran.exitCode).toBe(1)
      expect(ran.stdout + ran.stderr).not.toContain('opal-1234')
    }
  })

  test('leaves the current delegate ready when interrupted', async () => {
    const { delegate, project, main, statuses } = world('verify: "touch ../verifying; sleep 987"\n')
    const { tree } = delegate('one')
    const before = main()
    const child = spawn(process.execPath, [program, 'merge', 'one'], {
      cwd: project.root,
      env: process.env,
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    await expect.poll(() => existsSync(join(tree, '..', 'verifying'))).toBe(true)
    child.kill('SIGINT')
    expect(await new Promise((resolve) => child.on('close', resolve))).toBe(130)
    expect(main()).toBe(before)
    expect(await statuses()).toEqual({ one: 'ready' })
  })
})

describe('stint merge --wait', () => {
  test('waits until returned work is fixed and merged', async () => {
    const { stint, folder, cwd, git } = terminal()
    for (const [key, value] of [
      ['name', 'Test'],
      ['email', 'test@example.invalid'],
    ])
      git('config', `user.${key}`, value!)
    onTestFinished(() => expectNoneLeft(`STINT_STATE_HOME=${join(folder, 'state')}`))
    const script = join(folder, 'script.json')
    const change = (text: string) => [
      { write: { path: 'readme.txt', text } },
      { commit: text },
      { done: text },
    ]
    const mend = [
      { run: 'git merge main || true' },
      { write: { path: 'readme.txt', text: 'both\n' } },
      { run: 'git add -A && git commit -qm mended' },
      { done: 'Both are in' },
    ]
    writeFileSync(
      script,
      JSON.stringify({ tasks: { 'make-one': [change('one')], 'make-two': [change('two'), mend] } }),
    )
    for (const what of ['Make one', 'Make two'])
      await stint('delegate', what, '--harness', 'rehearsal', '--script', script, '--wait')
    const ran = await stint('merge', '--all', '--wait')
    expect(ran.exitCode).toBe(0)
    expect(ran.stdout).toMatch(
      /^✓ make-one merged .*\n✗ make-two conflicted: .*readme\.txt.*; it was sent back to be mended\n✓ make-two merged .*\n2 merged\n$/,
    )
    expect(ran.stderr).toContain('stint: waiting for make-two')
    expect(readFileSync(join(cwd, 'readme.txt'), 'utf8')).toBe('both\n')
  })
})

const hasScript = spawnSync('script', ['--version']).status === 0

describe.skipIf(!hasScript)('on a real terminal', () => {
  function typed(cwd: string, command: string) {
    const line = `stty cols 100 rows 30; '${process.execPath}' '${program}' ${command}`
    const { CI: _, ...env } = process.env
    const child = spawn('script', ['-qec', line, '/dev/null'], {
      cwd,
      env: { ...env, TERM: 'xterm' },
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    let printed = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text))
    const until = (text: string) => expect.poll(() => printed).toContain(text)
    const exit = new Promise<number | null>((resolve) => child.on('close', resolve))
    return { child, until, exit, printed: () => printed }
  }

  test.each([
    ['\r', 0, 'merged'],
    ['\u001B[B\r', 1, 'ready'],
    ['\u0003', 130, 'ready'],
  ])('--review shows the changes, and %j leads to exit %i and %s', async (keys, code, status) => {
    const { delegate, project, statuses } = world()
    delegate('one')
    const { child, until, exit, printed } = typed(project.root, 'merge one --review')
    await until('Merge one into main?')
    expect(printed()).toContain('one is written')
    expect(printed()).toContain('one.txt | 1 +')
    child.stdin.write(keys)
    expect(await exit).toBe(code)
    expect(await statuses()).toEqual({ one: status })
  })

  test.each([
    ['y', 'merged'],
    ['n', 'ready'],
  ])('lists the ready delegates without names and asks: %s leads to %s', async (key, status) => {
    const { delegate, project, statuses } = world()
    delegate('one')
    const { child, until, exit, printed } = typed(project.root, 'merge')
    await until('Merge it?')
    expect(printed()).toContain('✓ one ready: one is written')
    child.stdin.write(key)
    expect(await exit).toBe(0)
    expect(await statuses()).toEqual({ one: status })
  })

  test.each([
    ['y', 'discarded'],
    ['n', 'ready'],
  ])('asks before discarding several: %s leaves them %s', async (key, status) => {
    const { delegate, project, statuses } = world()
    delegate('one')
    delegate('two')
    const { child, until, exit } = typed(project.root, 'delegate discard')
    await until('Discard these 2?')
    child.stdin.write(key)
    expect(await exit).toBe(0)
    expect(await statuses()).toEqual({ one: status, two: status })
  })
})
