// What may happen to a delegate's processes, files and branches while it works in the background.
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { DelegateRow } from '../../src/run/delegate/delegate-row.ts'
import { readRun } from '../../src/run/run-log.ts'
import { Workspace } from '../../src/project/store/workspace.ts'
import { program } from '../support/cli.ts'
import { carriersOf, expectNoneLeft, isRunning } from '../support/processes.ts'
import { type Acts, BackgroundWorld } from './background-world.ts'
import type { MergeOutcome } from '../../src/run/entries.ts'

const DOES: Acts = [
  { write: { path: 'made.txt', text: 'made\n' } },
  { commit: 'make it' },
  { done: 'it is made' },
]
const HANGS: Acts = [{ write: { path: 'half.txt', text: 'half\n' } }, { hang: true }]

class World extends BackgroundWorld {
  /** Running, and already hanging. */
  async hanging(what = 'Hang here', ...flags: readonly string[]): Promise<DelegateRow> {
    const row = await this.begin(this.script({}, [HANGS, DOES]), what, ...flags)
    await this.untilWritten(row, 'half.txt')
    return row
  }

  async ready(what = 'Make it', turns: readonly Acts[] = [DOES]): Promise<DelegateRow> {
    return this.begin(this.script({}, turns), what, '--wait')
  }

  entries(id: string) {
    return readRun(new Workspace(this.cwd, { env: this.env }).paths, id)
  }

  branches(): readonly string[] {
    return this.lines('for-each-ref', '--format=%(refname:short)', 'refs/heads')
  }

  trees(): readonly string[] {
    return this.lines('worktree', 'list', '--porcelain').filter((line) =>
      line.startsWith('worktree '),
    )
  }
}

describe('a running delegate', () => {
  test('continues when the command that started it, its process group and its terminal are gone', async () => {
    const world = new World()
    const script = world.script({}, [HANGS])
    const line = [
      program,
      'delegate',
      'Hang here',
      '--harness',
      'rehearsal',
      '--script',
      script,
      '--wait',
    ]
    const child = spawn(process.execPath, line, {
      cwd: world.cwd,
      env: world.env,
      stdio: 'ignore',
      detached: true,
    })
    const closed = new Promise((resolve) => child.once('close', resolve))
    await expect.poll(() => world.states().some(({ isStarted }) => isStarted)).toBe(true)
    const { pid } = world.state('hang-here').run.runner
    await expect
      .poll(() => existsSync(join(world.state('hang-here').run.started.tree, 'half.txt')))
      .toBe(true)
    process.kill(-child.pid!, 'SIGHUP')
    // As a closing terminal does.
    process.kill(pid, 'SIGHUP')
    await closed
    expect((await world.rows())['hang-here']).toMatchObject({
      status: 'running',
      isOrphaned: false,
    })
    expect(isRunning(pid)).toBe(true)
  })

  test('is stopped with all its processes, even if its agent ignores signals or it is suspended', async () => {
    const world = new World()
    const agent = join(world.folder, 'deaf')
    const script = world.script({}, [HANGS])
    const rehearsal = `exec '${process.execPath}' '${program}' rehearsal --script '${script}'`
    writeFileSync(agent, `#!/bin/sh\ntrap '' TERM INT HUP\n${rehearsal}\n`)
    chmodSync(agent, 0o755)
    const deaf = await world.json<DelegateRow>(
      'delegate',
      'Hear nothing',
      '--harness',
      `acp:${agent}`,
    )
    const halted = await world.hanging()
    await world.untilWritten(deaf, 'half.txt')
    process.kill(world.state(halted.name).run.runner.pid, 'SIGSTOP')
    expect(await world.stint('delegate', 'stop')).toMatchObject({ exitCode: 0 })
    for (const { id, name, branch } of [deaf, halted]) {
      expect(carriersOf(`STINT_RUN=${id}`)).toEqual([])
      expect(isRunning(world.state(name).run.runner.pid)).toBe(false)
      expect(world.state(name)).toMatchObject({ status: 'failed', move: { because: 'stopped' } })
      expect(world.git('show', `${branch}:half.txt`)).toBe('half\n')
    }
  })

  test('is reconciled once after a kill, can be restarted, and can be recovered when discarded', async () => {
    const world = new World()
    await world.inProcess('init', '--name', 'parent', '--goal', 'all of it')
    const row = await world.hanging()
    process.kill(world.state(row.name).run.runner.pid, 'SIGKILL')
    await expectNoneLeft(`STINT_RUN=${row.id}`)
    expect((await world.rows())[row.name]).toMatchObject({
      status: 'running',
      isOrphaned: true,
      next: 'stint doctor --repair',
    })
    const looks = await Promise.all([
      world.stint('doctor', '--repair'),
      world.stint('delegate', 'stop', row.name),
      world.stint('delegate', 'show', row.name),
    ])
    expect(looks.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0])
    expect(world.entries(row.id).filter(({ kind }) => kind === 'delegate.moved')).toHaveLength(1)
    expect(world.journalled('delegate.reported')).toMatchObject([
      { status: 'failed', because: 'its process ended in the middle of it' },
    ])
    expect((await world.rows())[row.name]).toMatchObject({
      status: 'failed',
      next: `stint delegate retry ${row.name}`,
    })
    expect(world.lines('diff', '--name-only', 'main', row.branch)).toEqual(['half.txt'])
    await world.json('delegate', 'retry', row.name)
    await world.stint('delegate', 'wait')
    expect((await world.rows())[row.name]).toMatchObject({ status: 'ready' })
    expect(world.lines('diff', '--name-only', 'main', row.branch)).toEqual(['half.txt', 'made.txt'])
    const { stdout } = await world.stint('delegate', 'discard', row.name)
    expect(world.branches()).toEqual(['main'])
    const back = /get it back: (git branch .*)/.exec(stdout)![1]!
    execFileSync('sh', ['-c', back], { cwd: world.cwd, env: world.env })
    const name = world.branches().find((branch) => branch !== 'main')
    expect(world.lines('diff', '--name-only', 'main', name!)).toEqual(['half.txt', 'made.txt'])
  })

  test('is not affected by git clean in the checkout it was started from', async () => {
    const world = new World()
    const slow: Acts = [
      { write: { path: 'half.txt', text: 'half\n' } },
      { run: 'until test -f ../go; do sleep 0.1; done' },
      ...DOES,
    ]
    const row = await world.begin(world.script({}, [slow]), 'Make it')
    await world.untilWritten(row, 'half.txt')
    world.git('clean', '--quiet', '-fdx')
    writeFileSync(join(row.tree, '..', 'go'), '')
    await world.stint('delegate', 'wait')
    expect((await world.rows())[row.name]).toMatchObject({ status: 'ready', commits: 1 })
    expect((await world.outcomes('--all'))[row.name]).toMatchObject({ how: 'merged' })
    expect(world.read('made.txt')).toBe('made\n')
  })
})

describe('two commands at once', () => {
  test('starting a delegate get two, with distinct names and port slots', async () => {
    const world = new World()
    const script = world.script({}, [HANGS])
    const rows = await Promise.all([1, 2, 3].map(() => world.begin(script, 'Hang here')))
    expect(rows.map(({ name }) => name).toSorted()).toEqual([
      'hang-here',
      'hang-here-2',
      'hang-here-3',
    ])
    expect(rows.map(({ name }) => world.state(name).order.slot).toSorted()).toEqual([0, 1, 2])
  })

  test('listing and starting never see a new delegate as dead', async () => {
    const world = new World()
    await world.inProcess('init', '--name', 'parent', '--goal', 'all of it')
    let isStarted = false
    const started = world.hanging().finally(() => (isStarted = true))
    const list = async (): Promise<void> => {
      await world.inProcess('delegates')
      await sleep(10)
      if (!isStarted) await list()
    }
    await Promise.all([started, list()])
    expect(world.journalled('delegate.reported')).toEqual([])
    expect(world.states()).toMatchObject([{ status: 'running' }])
  })

  test('merging everything merge each delegate once', async () => {
    const world = new World()
    const names = ['one', 'two', 'three']
    const script = world.script(
      Object.fromEntries(
        names.map((name) => [
          `make-${name}`,
          [[{ write: { path: `${name}.txt`, text: name } }, { commit: name }, { done: name }]],
        ]),
      ),
    )
    for (const name of names) await world.begin(script, `Make ${name}`)
    await world.stint('delegate', 'wait')
    const ended = await Promise.all([
      world.stint('merge', '--all', '--json'),
      world.stint('merge', '--all', '--json'),
    ])
    const outcomes = ended.flatMap(
      ({ stdout }) => (JSON.parse(stdout) as { outcomes: readonly MergeOutcome[] }).outcomes,
    )
    const merged = outcomes.flatMap(({ how, name }) => (how === 'merged' ? [name] : []))
    expect(merged.toSorted()).toEqual(names.map((name) => `make-${name}`).toSorted())
    expect(world.lines('log', '--first-parent', '--format=%s', 'main')).toHaveLength(4)
    for (const name of names) expect(world.read(`${name}.txt`)).toBe(name)
  })

  test('restarting one delegate start it once', async () => {
    const world = new World()
    const row = await world.hanging()
    await world.stint('delegate', 'stop')
    const spells = () => world.entries(row.id).filter(({ kind }) => kind === 'run.resumed').length
    expect(spells()).toBe(1)
    world.script({}, [HANGS])
    await Promise.all([
      world.stint('delegate', 'retry', row.name),
      world.stint('delegate', 'retry', row.name),
    ])
    await expect.poll(() => carriersOf(`STINT_RUN=${row.id}`).length).toBeGreaterThan(0)
    expect(spells()).toBe(2)
    expect((await world.rows())[row.name]).toMatchObject({ status: 'running', isOrphaned: false })
    expect(
      world.entries(row.id).filter(({ kind }) => kind === 'conversation.opened').length,
    ).toBeLessThanOrEqual(2)
  })
})

describe('a delegate that cannot be created', () => {
  /** Fails with a reason and leaves no worktree, branch, run or delegate. */
  async function expectNothing(world: World, ...messages: readonly string[]): Promise<void> {
    const line = [
      'delegate',
      'Make it',
      '--harness',
      'rehearsal',
      '--script',
      world.script({}, [DOES]),
    ]
    const ran = await world.stint(...line)
    expect(ran.exitCode).toBe(1)
    for (const text of messages) expect(ran.stderr).toContain(text)
    expect(world.branches()).toEqual(['main'])
    expect(world.trees()).toEqual([`worktree ${world.cwd}`])
    expect(world.states()).toEqual([])
  }

  test('reports that its worktree cannot be created', async () => {
    const world = new World()
    mkdirSync(world.env['STINT_STATE_HOME']!, { recursive: true })
    writeFileSync(join(world.env['STINT_STATE_HOME']!, 'worktrees'), '')
    await expectNothing(world, 'worktrees')
    rmSync(join(world.env['STINT_STATE_HOME']!, 'worktrees'))
    expect(await world.ready()).toMatchObject({ status: 'ready', name: 'make-it' })
  })

  test('reports that its log cannot be written, even after its worktree was created', async () => {
    const world = new World()
    await world.inProcess('init', '--name', 'parent', '--goal', 'all of it')
    const runs = join(world.cwd, '.sessions', 'runs')
    mkdirSync(runs, { recursive: true })
    const hook = join(world.cwd, '.git', 'hooks', 'post-checkout')
    mkdirSync(join(hook, '..'), { recursive: true })
    writeFileSync(hook, `#!/bin/sh\nmv '${runs}' '${runs}-away' && touch '${runs}'\n`)
    chmodSync(hook, 0o755)
    await expectNothing(world, runs)
    rmSync(hook)
    rmSync(runs)
    renameSync(`${runs}-away`, runs)
    expect(await world.ready()).toMatchObject({ status: 'ready', name: 'make-it' })
  })
})

describe('a ready delegate', () => {
  test('is merged from its branch when its worktree was deleted', async () => {
    const world = new World()
    const { name, tree } = await world.ready()
    rmSync(tree, { recursive: true })
    expect((await world.outcomes(name))[name]).toMatchObject({ how: 'merged' })
    expect(world.read('made.txt')).toBe('made\n')
    expect(world.branches()).toEqual(['main'])
    expect(world.trees()).toEqual([`worktree ${world.cwd}`])
  })

  test('is merged from its proved commit when its branch was deleted too', async () => {
    const world = new World()
    const { branch, name, tree } = await world.ready()
    world.git('worktree', 'remove', '--force', tree)
    world.git('branch', '--quiet', '-D', branch)
    const ran = await world.stint('merge', name)
    expect(ran).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining(
        `${branch} is gone; the commit that was proved is merged`,
      ) as unknown,
    })
    expect(world.read('made.txt')).toBe('made\n')
  })

  test('waits and reports it when its target branch was renamed', async () => {
    const world = new World()
    const { name } = await world.ready()
    world.git('branch', '--quiet', '-m', 'main', 'trunk')
    const outcome = (await world.outcomes(name))[name]
    expect(outcome).toMatchObject({
      how: 'waiting',
      because: 'there is no branch main any more',
      next: `stint merge ${name}`,
    })
    world.git('branch', '--quiet', '-m', 'trunk', 'main')
    expect((await world.outcomes(name))[name]).toMatchObject({ how: 'merged' })
  })
})

test('a stopped delegate continues from its work even if its worktree and branch were deleted', async () => {
  const world = new World()
  const row = await world.hanging()
  await world.stint('delegate', 'stop')
  world.git('worktree', 'remove', '--force', row.tree)
  world.git('branch', '--quiet', '-D', row.branch)
  onTestFinished(() => void world.stint('delegate', 'stop'))
  await world.json('delegate', 'retry', row.name)
  await world.stint('delegate', 'wait')
  expect((await world.rows())[row.name]).toMatchObject({ status: 'ready' })
  expect(world.lines('diff', '--name-only', 'main', row.branch)).toEqual(['half.txt', 'made.txt'])
})
