import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { displayWidth } from '../../src/cli/print/terminal/layout.ts'
import { mintId } from '../../src/journal/ids.ts'
import { Workspace } from '../../src/project/store/workspace.ts'
import type { DelegateSpec } from '../../src/run/entries.ts'
import { RunLog } from '../../src/run/run-log.ts'
import { BACKLOG_ID, draftEntry } from '../../src/session/entries.ts'
import { terminal } from '../support/cli.ts'

interface TreeJson {
  readonly name: string
  readonly parts: readonly TreeJson[]
}

/** A release with a completed part, two parts in a group, and an unrelated task. */
async function releaseProject() {
  const world = terminal()
  const { stint } = world
  const add = (...args: string[]) => stint('task', 'add', ...args)
  await add('Release', '--priority', 'P1', '--size', 'L')
  await add(
    'Design',
    '--parent',
    'release',
    '--assign',
    'architect',
    '--checklist',
    'draw it',
    '--checklist',
    'show it',
  )
  await add('Write docs (parallel: group1)', '--parent', 'release', '--depends', 'design')
  await add('Write code', '--parent', 'release', '--depends', 'design', '--group', 'group1')
  await add('Loose end')
  await stint('task', 'check', 'design', '1')
  await stint('task', 'done', 'design')
  return world
}

/** Writes the log of a delegate. */
function delegateFor(
  world: ReturnType<typeof terminal>,
  task: string,
  name: string,
  last?: 'ready' | 'merged',
): void {
  const workspace = new Workspace(world.cwd, { env: world.env })
  const delegate: DelegateSpec = {
    name,
    what: 'do it',
    task,
    target: 'main',
    isReadOnly: false,
    files: [],
    slot: 0,
    brief: '',
  }
  const place = { tree: world.cwd, branch: `stint/${name}`, base: '0'.repeat(40), isInPlace: false }
  const started = {
    options: {},
    harness: 'rehearsal',
    source: '.tasks',
    ...place,
    runner: { pid: spawnSync('true').pid, startedAt: '', mark: '' },
    delegate,
  }
  const log = RunLog.create(workspace.paths, mintId(undefined), workspace.config, started)
  if (last !== undefined) log.append('delegate.moved', { to: last })
  log.close()
  workspace.close()
}

describe('task tree', () => {
  test('shows open tasks and counts completed ones', async () => {
    const { stint } = await releaseProject()
    const ran = await stint('task', 'tree')
    expect(ran.stdout.trimEnd().split('\n')).toEqual([
      '○ release  P1 L  Release  1 of 3 parts done  → devops (proposed)',
      '└─ ∥ group1: at the same time, 0 of 2 done',
      '   ╠═ ○ write-docs  P2 M  Write docs  → documentation (proposed)',
      '   ╚═ ○ write-code  P2 M  Write code  → code (proposed)',
      '○ loose-end  P2 M  Loose end  → code (proposed)',
    ])
    expect(ran.stderr).toContain('1 completed task not shown: stint task tree --all')
  })

  test('shows completed tasks and all items with --all', async () => {
    const { stint } = await releaseProject()
    const { stdout, stderr } = await stint('task', 'tree', '--all')
    expect(stdout).toContain(
      '├─ ✓ design  P2 M  Design  [1/2]  → architect  (completed)\n│     [x] draw it\n│     [ ] show it\n',
    )
    expect(stderr).toBe('')
  })

  test('shows one task with its items at the top level', async () => {
    const { stint } = await releaseProject()
    expect((await stint('task', 'tree', 'design')).stdout).toBe(
      '✓ design  P2 M  Design  [1/2]  → architect  (completed)\n   part of release\n   [x] draw it\n   [ ] show it\n',
    )
  })

  test('is nested in JSON, with specialists, progress and groups', async () => {
    const { stint } = await releaseProject()
    const tree = (await stint('task', 'tree', '--all', '--json')).json<{
      tasks: TreeJson[]
      groups: unknown[]
    }>()
    expect(tree.tasks).toMatchObject([
      {
        name: 'release',
        progress: { done: 1, total: 3 },
        specialist: { name: 'devops', isProposed: true },
        parts: [
          {
            name: 'design',
            status: 'completed',
            specialist: { name: 'architect', isProposed: false },
            waitsFor: [],
            parts: [],
          },
          { name: 'write-docs', group: 'group1' },
          { name: 'write-code' },
        ],
      },
      { name: 'loose-end', delegates: [] },
    ])
    const [{ parts } = { parts: [] }] = tree.tasks as (TreeJson & { parts: { id: string }[] })[]
    expect(tree.groups).toEqual([
      { group: 'group1', tasks: [parts[1]!.id, parts[2]!.id], progress: { done: 0, total: 2 } },
    ])
  })

  test('names the delegate of a task, and a merged one only with --all', async () => {
    const world = await releaseProject()
    const { id } = (await world.stint('task', 'show', 'loose-end', '--json')).json<{ id: string }>()
    delegateFor(world, id, 'first-try', 'merged')
    delegateFor(world, id, 'second-try', 'ready')
    delegateFor(world, id, 'lost')
    const line = (text: string) => text.split('\n').find((one) => one.includes('delegate'))
    const now = 'delegate second-try: ready · delegate lost: running, but nobody is at it'
    expect(line((await world.stint('task', 'tree')).stdout)).toBe(`   ${now}`)
    expect(line((await world.stint('task', 'tree', '--all')).stdout)).toBe(
      `   delegate first-try: merged · ${now}`,
    )
    const { tasks } = (await world.stint('task', 'tree', 'loose-end', '--json')).json<{
      tasks: unknown[]
    }>()
    expect(tasks).toMatchObject([
      {
        delegates: [
          { name: 'second-try', status: 'ready', isOrphaned: false },
          { name: 'lost', status: 'running', isOrphaned: true },
        ],
      },
    ])
  })

  test('stays within the terminal, and truncates nothing off a terminal', async () => {
    const { stint, run, env } = await releaseProject()
    const title = `A ${'very '.repeat(30)}long title`
    await stint('task', 'add', title, '--parent', 'write-code')
    expect((await stint('task', 'tree')).stdout).toContain(title)
    let written = ''
    const stdout = { isTTY: true, columns: 50, write: (text: string) => (written += text) }
    await run(['task', 'tree'], {
      process: { stdout, stderr: { write: () => {} }, env: env as Record<string, string> },
      hasColour: true,
    })
    const lines = written.replaceAll(/\u001B\[\d+m/g, '').split('\n')
    expect(lines.filter((line) => displayWidth(line) >= 50)).toEqual([])
    expect(written).toContain('\u001B[1m')
  })

  test('shows tasks with circular or missing parents once each, as the list does', async () => {
    const { stint, cwd } = terminal()
    const ids = await Promise.all(
      ['Aa', 'Bb', 'Cc'].map(
        async (title) => (await stint('task', 'add', title, '--json')).json<{ id: string }>().id,
      ),
    )
    const file = (n: number) =>
      join(cwd, '.tasks', 'active', `${['aa', 'bb', 'cc'][n]!}-${ids[n]!}.md`)
    const under = (n: number, parent: string) =>
      writeFileSync(
        file(n),
        readFileSync(file(n), 'utf8').replace('status:', `parent: ${parent}\nstatus:`),
      )
    under(0, ids[1]!)
    under(1, ids[0]!)
    under(2, 'ghost')
    const ran = await stint('task', 'tree')
    expect(ran.stdout.match(/○ \w+/g)!.toSorted()).toEqual(['○ aa', '○ bb', '○ cc'])
    expect(ran.stdout).toContain('which stands under it')
    expect(ran.stderr).toContain('dependency cycle: aa → bb → aa')
    expect(ran.stderr).toContain('cc is a part of ghost, which is not in the backlog')
    expect((await stint('task', 'list')).stdout.match(/○ \w+/g)!.toSorted()).toEqual([
      '○ aa',
      '○ bb',
      '○ cc',
    ])
    expect((await stint('task', 'tree', '--json')).json()).toMatchObject({
      problems: expect.arrayContaining([expect.stringContaining('cycle')]),
    })
  })

  test('shows every task of a very long chain, and limits the nesting of JSON', async () => {
    const { stint, cwd, env } = terminal()
    await stint('task', 'add', 'First')
    const ids = Array.from({ length: 300 }, (_, n) => `chain-${String(n).padStart(4, '0')}`)
    const workspace = new Workspace(cwd, { env })
    const log = workspace.session(BACKLOG_ID)
    log.append(
      ids.map((task, n) => {
        const under = n === 0 ? {} : { parent: ids[n - 1]! }
        return draftEntry(
          'task.added',
          { task, title: task, shortname: task, ...under },
          { by: 'cli' },
        )
      }),
    )
    log.close()
    workspace.close()
    expect((await stint('task', 'tree')).stdout.match(/○ chain-\d+/g)).toHaveLength(300)
    const { tasks } = (await stint('task', 'tree', '--json')).json<{ tasks: TreeJson[] }>()
    const count = (nodes: readonly TreeJson[]): number =>
      nodes.reduce((sum, { parts }) => sum + 1 + count(parts), 0)
    const depth = (nodes: readonly TreeJson[]): number =>
      nodes.reduce((most, { parts }) => Math.max(most, 1 + depth(parts)), 0)
    expect([count(tasks), depth(tasks)]).toEqual([301, 100])
  })

  test.each([
    [[], 'No tasks: stint task add "What is to be done" adds one.'],
    [['Done already'], 'No open tasks, 1 completed: stint task tree --all shows them.'],
  ])('suggests what to do when there is nothing to show: %j', async (titles, message) => {
    const { stint } = terminal()
    for (const title of titles) {
      const { id } = (await stint('task', 'add', title, '--json')).json<{ id: string }>()
      await stint('task', 'done', id)
    }
    expect((await stint('task', 'tree')).stdout.trimEnd()).toBe(message)
  })

  test('suggests the nearest name for an unknown one', async () => {
    const { stint } = await releaseProject()
    const ran = await stint('task', 'tree', 'relaese')
    expect(ran).toMatchObject({ exitCode: 1, stdout: '' })
    expect(ran.stderr).toContain('there is no task "relaese"; did you mean release?')
    expect((await stint('task', 'tree', 'relaese', '--json')).json()).toMatchObject({
      error: { code: 'TASK_NOT_FOUND' },
    })
    expect((await stint('__complete', 'task', 'tree', 'rel')).stdout).toBe('release\n')
  })
})

describe('task change', () => {
  test('sets and clears parent, group and assignee', async () => {
    const { stint } = await releaseProject()
    const flags = [
      '--parent',
      'write-code',
      '--group',
      'group2',
      '--assign',
      'tests',
      '--priority',
      'p0',
      '--size',
      'xl',
      '--verify',
      'npm test',
    ]
    const { id } = (await stint('task', 'show', 'write-code', '--json')).json<{ id: string }>()
    const changed = (
      await stint(
        'task',
        'change',
        'loose-end',
        ...flags,
        '--title',
        'A new end',
        '--description',
        'So',
        '--json',
      )
    ).json()
    expect(changed).toMatchObject({
      name: 'loose-end',
      title: 'A new end',
      description: 'So',
      parent: id,
      group: 'group2',
      assignee: 'tests',
      priority: 'P0',
      size: 'XL',
      verify: 'npm test',
    })
    const none = ['parent', 'group', 'assign', 'verify'].flatMap((flag) => [`--${flag}`, 'none'])
    const back = (
      await stint('task', 'change', 'loose-end', ...none, '--description', '', '--json')
    ).json()
    for (const field of ['parent', 'group', 'assignee', 'verify'])
      expect(back).not.toHaveProperty(field)
    expect(back).toMatchObject({ description: '' })
  })

  test('adds to dependencies, labels and checklist, and drops from them', async () => {
    const { stint } = await releaseProject()
    const change = async (...flags: string[]) =>
      (await stint('task', 'change', 'loose-end', ...flags, '--json')).json<Lists>()
    await change(
      '--depends',
      'design,write-docs',
      '--label',
      'a',
      '--label',
      'b',
      '--checklist',
      'one',
      '--checklist',
      'two',
    )
    await stint('task', 'check', 'loose-end', '2')
    const more = await change('--depends', 'write-code', '--label', 'c', '--checklist', 'three')
    expect(more).toMatchObject({
      labels: ['a', 'b', 'c'],
      checklist: [{ item: 'one' }, { item: 'two', done: true }, { item: 'three' }],
    })
    expect(more.dependsOn).toHaveLength(3)
    const less = await change('--drop-depends', 'design', '--drop-label', 'B', '--drop-item', '1')
    expect(less).toMatchObject({
      labels: ['a', 'c'],
      checklist: [{ item: 'two', done: true }, { item: 'three' }],
    })
    expect(less.dependsOn).toEqual(more.dependsOn.slice(1))
  })

  interface Lists {
    readonly dependsOn: readonly string[]
  }

  test('refuses a change that makes a task wait for itself, and changes nothing', async () => {
    const { stint } = await releaseProject()
    const before = (await stint('task', 'tree', '--all', '--json')).stdout
    for (const [name, flags, way] of [
      ['design', ['--depends', 'write-docs'], 'design → write-docs → design'],
      ['design', ['--depends', 'design'], 'design → design'],
      ['write-docs', ['--depends', 'release'], 'write-docs → release → write-docs'],
      ['release', ['--parent', 'write-docs'], 'write-docs → release → write-docs'],
      ['release', ['--parent', 'release'], 'release → release'],
      [
        'loose-end',
        ['--parent', 'design', '--depends', 'write-code'],
        'loose-end → write-code → design → loose-end',
      ],
    ] as const) {
      const ran = await stint('task', 'change', name, ...flags)
      expect(ran).toMatchObject({ exitCode: 1, stdout: '' })
      expect(ran.stderr).toContain(`would wait for itself: ${way}\n`)
    }
    expect(
      (await stint('task', 'add', 'Sub', '--parent', 'release', '--depends', 'release')).stderr,
    ).toContain('sub → release → sub')
    expect((await stint('task', 'tree', '--all', '--json')).stdout).toBe(before)
  })

  test('can break up a dependency cycle step by step', async () => {
    const { stint, cwd, env } = terminal()
    for (const title of ['Aa', 'Bb', 'Cc']) await stint('task', 'add', title)
    const workspace = new Workspace(cwd, { env })
    const { tasks } = await import('../../src/project/tasks/project-backlog.ts').then(
      ({ openBacklog }) => openBacklog(workspace),
    )
    const [a, b, c] = tasks.map(({ id }) => id) as [string, string, string]
    const log = workspace.session(BACKLOG_ID)
    log.append([
      draftEntry('task.changed', { task: a, dependsOn: [b, c, 'ghost'] }, { by: 'cli' }),
      draftEntry('task.changed', { task: b, dependsOn: [a] }, { by: 'cli' }),
      draftEntry('task.changed', { task: c, dependsOn: [a] }, { by: 'cli' }),
    ])
    log.close()
    workspace.close()
    expect((await stint('task', 'change', 'aa', '--drop-depends', 'bb')).exitCode).toBe(0)
    expect((await stint('task', 'list')).stderr).toContain('dependency cycle: aa → cc → aa')
    expect(
      (await stint('task', 'change', 'aa', '--drop-depends', 'cc', '--drop-depends', 'ghost'))
        .exitCode,
    ).toBe(0)
    expect((await stint('task', 'list')).stderr).toBe('')
  })

  test('records nothing when nothing changes', async () => {
    const { stint, cwd } = await releaseProject()
    const log = () => readFileSync(join(cwd, '.sessions', 'backlog', 'log.jsonl'), 'utf8')
    const before = log()
    expect(
      (
        await stint(
          'task',
          'change',
          'design',
          '--assign',
          'architect',
          '--group',
          'none',
          '--priority',
          'P2',
        )
      ).exitCode,
    ).toBe(0)
    expect(log()).toBe(before)
  })

  test.each([
    [['loose-end'], 2, 'nothing was said to change'],
    [['loose-end', '--size', 'huge'], 2, '"huge" is no size'],
    [['loose-end', '--title', ' '], 2, 'a task needs a title'],
    [['loose-end', '--parent', 'relaese'], 1, 'did you mean release?'],
    [['nope', '--size', 'S'], 1, 'there is no task "nope"'],
    [['loose-end', '--drop-depends', 'design'], 1, 'loose-end does not depend on "design"'],
    [['loose-end', '--drop-label', 'x'], 1, 'loose-end has no label "x"'],
    [['loose-end', '--drop-item', '3'], 1, 'loose-end has no item "3"'],
  ])('%j is refused with the reason', async (args, exitCode, message) => {
    const { stint } = await releaseProject()
    const ran = await stint('task', 'change', ...args)
    expect(ran).toMatchObject({ exitCode, stdout: '' })
    expect(ran.stderr).toContain(message)
  })

  test('is refused to an agent in a run, whose proof depends on the task', async () => {
    const { run, env, stint } = await releaseProject()
    const ran = await run(['task', 'change', 'loose-end', '--verify', 'true'], {
      env: { ...env, STINT_RUN: mintId(undefined) },
    })
    expect(ran).toMatchObject({ exitCode: 1, stdout: '' })
    expect(ran.stderr).toContain('changing a task is not for an agent in a run')
    expect((await stint('task', 'show', 'loose-end')).stdout).not.toContain('Verify')
  })
})
