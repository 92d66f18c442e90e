// Eight delegates at once with conflicts, kills and silence. In the end all work is merged or saved, every task was closed once,
// and nothing is left behind.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DelegateRow } from '../../src/run/delegate/delegate-row.ts'
import type { MergeStep } from '../../src/run/merge/merge-context.ts'
import { bundleProgram } from '../support/bundle.ts'
import { program } from '../support/cli.ts'
import { expectNoneLeft } from '../support/processes.ts'
import { temporaryFolder } from '../support/scratch.ts'
import { type Acts, BackgroundWorld } from './background-world.ts'

const folder = temporaryFolder()
const worker = join(folder, 'merge-and-die.worker.mjs')

beforeAll(async () => {
  await bundleProgram(fileURLToPath(new URL('merge-and-die.worker.ts', import.meta.url)), worker)
  // A bundled program looks beside itself for the command that starts delegates, and for SQLite.
  symlinkSync(program, join(folder, 'stint.js'))
  symlinkSync(join(dirname(dirname(program)), 'node_modules'), join(folder, 'node_modules'))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Every name a file uses exists, and no file is broken. */
const CHECK = `#!/bin/sh
for name in $(sed -n 's/^uses //p' *.txt); do
  test -f "$name" || { echo "$name is used and not there"; exit 1; }
done
! grep -l broken *.txt
`

const writing = (name: string, text = `${name}\n`, summary = `${name} is written`): Acts => [
  { write: { path: `${name}.txt`, text } },
  { commit: `write ${name}` },
  { done: summary },
]

const SCRIPT: Readonly<Record<string, readonly Acts[]>> = {
  alpha: [writing('alpha')],
  beta: [writing('beta')],
  // It renames what another delegate starts to use.
  gamma: [
    [
      { run: 'git mv helper.txt assistant.txt && sed -i s/helper/assistant/ caller.txt' },
      { commit: 'call it assistant' },
      { done: 'it is called assistant' },
    ],
  ],
  delta: [
    writing('delta', 'uses helper.txt\n'),
    [
      { run: 'git merge --quiet --no-edit main' },
      ...writing('delta', 'uses assistant.txt\n', 'delta uses the assistant'),
    ],
  ],
  // Both change the same line.
  epsilon: [writing('shared', 'epsilon\n', 'epsilon has it')],
  zeta: [
    writing('shared', 'zeta\n', 'zeta has it'),
    [
      { run: 'git merge --quiet --no-edit main || true' },
      ...writing('shared', 'epsilon\nzeta\n', 'both have it'),
    ],
  ],
  eta: [
    [{ write: { path: 'half.txt', text: 'half\n' } }, { hang: true }],
    [{ run: 'mv half.txt whole.txt' }, ...writing('eta')],
  ],
  theta: [[{ write: { path: 'theta.txt', text: 'theta\n' } }, { hang: true }]],
}

const NAMES = Object.keys(SCRIPT)
const MERGED = NAMES.filter((name) => name !== 'theta')

class Eight extends BackgroundWorld {
  readonly #green = new Set<string>()
  readonly tasks = new Map<string, string>()
  start = ''

  async prepare(): Promise<void> {
    this.start = this.commit('a project', {
      'check.sh': CHECK,
      'helper.txt': 'help\n',
      'caller.txt': 'uses helper.txt\n',
      'shared.txt': 'nobody\n',
    })
    await this.inProcess('init', '--name', 'eight', '--goal', 'All of it at once')
    this.write('.sessions/config.yaml', 'verify: sh check.sh\ndelegates:\n  most: 8\n')
    for (const name of NAMES) {
      const { id } = (await this.inProcess('task', 'add', name, '--size', 'S', '--json')).json<{
        id: string
      }>()
      this.tasks.set(name, id)
    }
  }

  /** The delegates after a command that records how the dead ones ended; listing only reads. */
  async reconciled() {
    await this.inProcess('doctor', '--repair')
    return this.rows()
  }

  /** Invariants at every moment. Closed tasks are read before the target, which only advances. */
  look(): void {
    const closed = this.closed()
    const main = this.commitOf('main')
    for (const [name, count] of Object.entries(closed)) {
      expect({ name, count }).toEqual({ name, count: 1 })
      const { commit } = this.state(name).ready!
      expect({ name, isOnMain: this.isIn(commit!, main) }).toEqual({ name, isOnMain: true })
    }
    this.expectGreen(main)
  }

  /** How often each task was closed. */
  closed(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {}
    for (const { task, status } of this.journalled('task.moved')) {
      const name = [...this.tasks].find(([, id]) => id === task)?.[0] ?? 'no task'
      if (status === 'completed') counts[name] = (counts[name] ?? 0) + 1
    }
    return counts
  }

  isIn(commit: string, tip: string): boolean {
    return this.git('rev-list', '--max-count=1', commit, `^${tip}`).trim() === ''
  }

  /** Every commit the target was at passes the verify command. */
  expectGreen(main: string): void {
    for (const commit of this.lines('rev-list', '--first-parent', `${this.start}..${main}`)) {
      if (this.#green.has(commit)) continue
      const tree = mkdtempSync(join(folder, 'at-'))
      const archive = execFileSync('git', ['archive', commit], { cwd: this.cwd })
      execFileSync('tar', ['-x'], { cwd: tree, input: archive })
      execFileSync('sh', ['check.sh'], { cwd: tree })
      this.#green.add(commit)
    }
  }

  get verified(): number {
    return this.#green.size
  }

  /** Checks the invariants repeatedly until the work is done. */
  async looking<T>(work: Promise<T>): Promise<T> {
    const looks = setInterval(() => this.look(), 100)
    try {
      return await work
    } finally {
      clearInterval(looks)
      this.look()
    }
  }

  async waitedFor(...names: readonly string[]): Promise<Readonly<Record<string, DelegateRow>>> {
    await this.looking(this.stint('delegate', 'wait', ...names))
    return this.rows()
  }

  /** Merges these in a process that dies after a step. */
  async dieAt(step: MergeStep, ...names: readonly string[]): Promise<void> {
    const { signal, stdout, stderr } = await this.looking(this.run(worker, [step, ...names]))
    expect(`${step}: ${signal} ${stdout}${stderr}`).toContain(`${step}: SIGKILL `)
  }

  /** Unreachable commits, except merges that never reached the target. */
  lost(): readonly string[] {
    const objects = this.lines(
      'cat-file',
      '--batch-all-objects',
      '--batch-check=%(objecttype) %(objectname)',
    )
    const commits = objects.flatMap((line) =>
      line.startsWith('commit ') ? [line.slice('commit '.length)] : [],
    )
    const reachable = new Set(this.lines('rev-list', '--all'))
    return commits
      .filter((commit) => !reachable.has(commit))
      .map((commit) => this.git('log', '-1', '--format=%s', commit).trim())
      .filter((subject) => !subject.startsWith('Merge delegate '))
  }
}

test(
  'eight delegates, half of them failing, lose no work, close each task once and leave nothing behind',
  { timeout: 600_000 },
  async () => {
    const world = new Eight()
    await world.prepare()
    const script = world.script(SCRIPT)
    const begin = (names: readonly string[]) =>
      Promise.all(names.map((name) => world.begin(script, '--task', name)))
    const begun = [...(await begin(NAMES.slice(4))), ...(await begin(NAMES.slice(0, 4)))]
    expect(begun.map(({ name }) => name).toSorted()).toEqual(NAMES.toSorted())
    expect(new Set(world.states().map(({ order }) => order.slot)).size).toBe(8)
    world.commit('meanwhile', { 'meanwhile.txt': 'meanwhile\n' })

    const [eta, theta] = ['eta', 'theta'].map((name) =>
      begun.find((row) => row.name === name)!,
    ) as [DelegateRow, DelegateRow]
    await world.untilWritten(eta, 'half.txt')
    process.kill(world.state('eta').run.runner.pid, 'SIGKILL')
    await expectNoneLeft(`STINT_RUN=${eta.id}`)
    expect((await world.reconciled())['eta']).toMatchObject({
      status: 'failed',
      commits: 1,
      next: 'stint delegate retry eta',
    })
    expect(world.git('show', `${eta.branch}:half.txt`)).toBe('half\n')

    await world.untilWritten(theta, 'theta.txt')
    expect(await world.stint('delegate', 'stop', 'theta')).toMatchObject({ exitCode: 0 })
    await expectNoneLeft(`STINT_RUN=${theta.id}`)
    const discarded = await world.stint('delegate', 'discard', 'theta')
    const back = /git branch \S+ (\S+)/.exec(discarded.stdout)?.[1]
    expect(world.git('show', `${back}:theta.txt`)).toBe('theta\n')

    await world.json('delegate', 'retry', 'eta')
    const ready = await world.waitedFor(...MERGED)
    expect(MERGED.map((name) => `${name} ${ready[name]!.status}`)).toEqual(
      MERGED.map((name) => `${name} ready`),
    )
    expect(world.closed()).toEqual({})
    expect(world.commitOf('main^')).toBe(world.start)

    // A merge killed before the target moved has done nothing, and after it everything.
    await world.dieAt('begun', 'alpha', 'beta', 'gamma')
    await world.dieAt('merge made', 'beta', 'gamma')
    expect((await world.reconciled())['beta']).toMatchObject({ status: 'ready' })
    await world.dieAt('verified', 'gamma', 'alpha')
    await world.dieAt('kept', 'epsilon')
    await world.dieAt('landing', 'alpha', 'beta')
    expect((await world.reconciled())['alpha']).toMatchObject({ status: 'ready' })
    expect(world.closed()).toEqual({})
    expect(world.commitOf('main^')).toBe(world.start)
    await world.dieAt('landed', 'alpha', 'beta')
    expect(world.closed()).toEqual({})
    expect((await world.reconciled())['alpha']).toMatchObject({ status: 'merged' })
    expect(world.closed()).toEqual({ alpha: 1 })
    await world.dieAt('journals merged', 'beta', 'gamma')
    await world.dieAt('merged', 'gamma', 'epsilon')
    expect(world.closed()).toEqual({ alpha: 1, beta: 1, gamma: 1 })

    const merged = await world.looking(
      world.stint('merge', 'delta', 'epsilon', 'zeta', 'eta', '--wait'),
    )
    expect(`${merged.exitCode} ${merged.stdout}${merged.stderr}`).toMatch(/^0 /)
    expect(merged.stdout).toMatch(/✗ delta is red on main: .*; it was sent back to be mended/)
    expect(merged.stdout).toMatch(/✗ zeta conflicted: .*shared\.txt; it was sent back to be mended/)

    const rows = await world.rows()
    expect(Object.fromEntries(NAMES.map((name) => [name, rows[name]!.status]))).toEqual({
      ...Object.fromEntries(MERGED.map((name) => [name, 'merged'])),
      theta: 'discarded',
    })
    expect(world.states().map(({ order, rejected }) => `${order.name} ${rejected}`)).toEqual(
      expect.arrayContaining(['delta 1', 'zeta 1', 'epsilon 0', 'eta 0']),
    )
    expect(world.closed()).toEqual(Object.fromEntries(MERGED.map((name) => [name, 1])))
    expect([
      world.read('shared.txt'),
      world.read('delta.txt'),
      world.read('whole.txt'),
      world.read('eta.txt'),
    ]).toEqual(['epsilon\nzeta\n', 'uses assistant.txt\n', 'half\n', 'eta\n'])
    expect(world.verified).toBe(8)
    expect(world.lost()).toEqual([])
    expect(world.lines('status', '--porcelain', '--untracked-files=no')).toEqual([])
    expect(
      world.lines('worktree', 'list', '--porcelain').filter((line) => line.startsWith('worktree ')),
    ).toEqual([`worktree ${world.cwd}`])
    for (const { tree } of begun) expect(existsSync(tree)).toBe(false)
    expect(world.lines('for-each-ref', '--format=%(refname)', 'refs/heads')).toEqual([
      'refs/heads/main',
    ])
    expect(world.lines('for-each-ref', '--format=%(refname)', 'refs/stint/merges')).toEqual([])

    const reported = world
      .journalled('delegate.reported')
      .map(({ name, status }) => `${String(name)} ${String(status)}`)
    expect(reported.filter((result) => / (?:merged|discarded)$/.test(result)).toSorted()).toEqual(
      [...MERGED.map((name) => `${name} merged`), 'theta discarded'].toSorted(),
    )
    expect(reported.filter((result) => result.endsWith(' failed')).toSorted()).toEqual([
      'eta failed',
      'theta failed',
    ])
    await world.expectNoProcess()
    expect(await world.stint('doctor')).toMatchObject({
      exitCode: 0,
      stdout: expect.not.stringContaining('⚠') as unknown,
    })
  },
)
