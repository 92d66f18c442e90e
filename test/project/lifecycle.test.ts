import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { StintError } from '../../src/library.ts'
import { World, gitProject, plainProject } from '../support/project.ts'
import { git, scratchFolder } from '../support/scratch.ts'
import { agreeTo } from '../support/trust.ts'

const refused = (work: Promise<unknown>, code: string) =>
  expect(work).rejects.toMatchObject({ code })

describe('a task', () => {
  /** A project with a task, and a session for it. */
  async function working() {
    const world = gitProject()
    const task = await world.run((project) =>
      project.tasks.add({
        title: 'Fix the sweep bug',
        checklist: [
          { item: 'Reproduce', done: true },
          { item: 'Mend', done: false },
        ],
      }),
    )
    const { reading } = await world.run((project) => project.init({ tasks: [task.shortname] }))
    return { world, task, session: reading.state }
  }
  const status = (world: World, id: string) =>
    world.run((project) => project.tasks.show(id)).then((task) => task.status)
  const file = (world: World) => {
    const paths = ['active', 'archive'].flatMap((folder) =>
      world.names('.tasks', folder).map((name) => join('.tasks', folder, name)),
    )
    expect(paths).toHaveLength(1)
    return paths[0]!
  }

  test('is in progress when a session starts for it, and provides name, goal, title and steps', async () => {
    const { world, task, session } = await working()
    expect(session).toMatchObject({
      name: task.shortname,
      goal: 'Fix the sweep bug',
      title: 'Fix the sweep bug',
      tasks: [task.id],
    })
    expect(session.steps.items.map(({ text, status: state }) => [text, state])).toEqual([
      ['Reproduce', 'done'],
      ['Mend', 'todo'],
    ])
    expect(await status(world, task.id)).toBe('in_progress')
    expect(world.read(file(world))).toContain('in_progress')
    expect(world.document()).toContain(`task_ids:\n  - ${task.id}\n`)
  })

  test('is completed with its session, and both are archived', async () => {
    const { world, task, session } = await working()
    await world.run((project) => project.close({ how: 'completed', reason: 'it works' }))
    expect(await status(world, task.id)).toBe('completed')
    expect(file(world)).toMatch(/^\.tasks\/archive\//)
    expect(world.documentPath()).toBe(
      join('.sessions', 'archive', `${task.shortname}-${session.id.slice(-6)}.md`),
    )
    expect(world.document()).toMatch(
      /status: completed\n[\s\S]*closed_at: .*\nduration_hours: 0\.0\nclose_reason: "it works"\n/,
    )
    expect(world.names('.sessions', 'active')).toEqual([])
    expect(
      world
        .journal()
        .filter(({ kind }) => kind === 'session.closed' || kind === 'task.moved')
        .map(({ data }) => data),
    ).toMatchObject([{ status: 'in_progress' }, { how: 'completed' }, { status: 'completed' }])
  })

  test('is ready again when its session is abandoned', async () => {
    const { world, task } = await working()
    await world.run((project) =>
      project.close({ how: 'abandoned', reason: 'requirements changed' }),
    )
    expect(await status(world, task.id)).toBe('ready')
    expect(world.document()).toContain('status: abandoned\n')
  })

  test('is ready while its session is paused, and in progress once it resumes', async () => {
    const { world, task } = await working()
    await world.run((project) => project.pause({ note: 'lunch' }))
    expect(await status(world, task.id)).toBe('ready')
    expect(world.document()).toMatch(/status: paused\n[\s\S]*paused_at: .*\npause_reason: lunch\n/)
    await world.run((project) => project.resume())
    expect(await status(world, task.id)).toBe('in_progress')
    expect(world.document()).not.toContain('pause')
  })

  test('stays in progress with keepTaskStatus', async () => {
    const { world, task } = await working()
    await world.run((project) => project.pause({ keepTaskStatus: true }))
    expect(await status(world, task.id)).toBe('in_progress')
  })

  test('is in progress again when its session is reopened', async () => {
    const { world, task } = await working()
    await world.run((project) => project.close({ how: 'completed' }))
    const reading = await world.run((project) => project.reopen({ session: task.shortname }))
    expect(reading.state.status).toBe('active')
    expect(await status(world, task.id)).toBe('in_progress')
    expect(file(world)).toMatch(/^\.tasks\/active\//)
    expect(world.documentPath()).toMatch(/^\.sessions\/active\//)
    expect(world.document()).not.toContain('closed_at')
  })

  test('is linked by name when the backlog does not have it, and the user is notified', async () => {
    const world = plainProject()
    const { reading } = await world.run((project) => project.init({ tasks: ['JIRA-12'] }))
    expect(reading.state.tasks).toEqual(['JIRA-12'])
    expect(reading.state.name).toBe('jira-12')
    expect(world.messages).toContain(
      'there is no task JIRA-12 in .tasks/; it is linked by its name alone',
    )
  })
})

describe('closing', () => {
  test('works once, and only a closed session can be reopened', async () => {
    const world = plainProject()
    await world.run((project) => project.init({ name: 'work' }))
    await refused(
      world.run((project) => project.reopen({ session: 'work' })),
      'SESSION_OPEN',
    )
    await world.run((project) => project.close({ how: 'completed' }))
    await refused(
      world.run((project) => project.close({ how: 'abandoned', session: 'work' })),
      'SESSION_CLOSED',
    )
    await refused(
      world.run((project) => project.pause({ session: 'work' })),
      'SESSION_NOT_ACTIVE',
    )
    expect(world.entries('session.closed')).toHaveLength(1)
  })

  test('works for a paused session by name', async () => {
    const world = plainProject()
    await world.run((project) => project.init({ name: 'work' }))
    await world.run((project) => project.pause())
    const { state } = await world.run((project) =>
      project.close({ how: 'completed', session: 'work' }),
    )
    expect(state.status).toBe('completed')
    expect(world.document()).not.toContain('paused_at')
  })
})

describe('pausing', () => {
  async function two() {
    const world = plainProject()
    await world.run((project) => project.init({ name: 'first' }))
    await world.run((project) => project.pause())
    await world.run((project) => project.init({ name: 'second' }))
    return world
  }

  test('saves a checkpoint', async () => {
    const world = plainProject()
    await world.run((project) => project.init({ name: 'first' }))
    await world.run((project) => project.pause({ note: 'lunch' }))
    expect(world.entries('checkpoint.made')).toMatchObject([{ note: 'lunch' }])
  })

  test('can switch to another session', async () => {
    const world = await two()
    const { reading, resumed } = await world.run((project) => project.pause({ switchTo: 'first' }))
    expect(reading.state).toMatchObject({ name: 'second', status: 'paused' })
    expect(resumed?.reading.state).toMatchObject({ name: 'first', status: 'active' })
    expect((await world.run((project) => project.active()))?.name).toBe('first')
  })

  test('changes nothing when the other session is missing or closed', async () => {
    const world = await two()
    await refused(
      world.run((project) => project.pause({ switchTo: 'frist' })),
      'NO_SESSION',
    )
    await world.run((project) => project.close({ how: 'completed', session: 'first' }))
    await refused(
      world.run((project) => project.pause({ switchTo: 'first' })),
      'SESSION_CLOSED',
    )
    expect((await world.run((project) => project.active()))?.name).toBe('second')
  })
})

describe('a checkpoint', () => {
  async function started() {
    const world = gitProject()
    await world.run((project) => project.init({ name: 'work', goal: 'Make it work' }))
    return world
  }

  test('saves the code and restores it on a branch', async () => {
    const world = await started()
    world.write('a.txt', 'changed\n')
    world.write('new.txt', 'untracked\n')
    const before = world.git('status', '--porcelain')
    const { checkpoint } = await world.run((project) =>
      project.checkpoint({ note: 'Before refactor' }),
    )
    expect(world.git('status', '--porcelain')).toBe(before)
    expect(world.git('log', '-1', '--format=%s', checkpoint.code!.ref).trim()).toBe(
      'stint: Before refactor (work)',
    )

    world.write('a.txt', 'ruined\n')
    rmSync(world.path('new.txt'))
    const { diff } = await world.run((project) => project.checkpoints.diff())
    expect(diff).toContain('-changed\n+ruined')
    expect(diff).toContain('deleted file')
    await world.run((project) => project.checkpoints.restore({ to: { branch: 'back' } }))
    expect(world.git('show', 'back:a.txt')).toBe('changed\n')
    expect(world.git('show', 'back:new.txt')).toBe('untracked\n')
    expect(world.read('a.txt')).toBe('ruined\n')
  })

  test('restores the code in a worktree, by number or part of its id', async () => {
    const world = await started()
    const made: string[] = []
    for (const text of ['one', 'two', 'three']) {
      world.write('a.txt', `state ${text}\n`)
      made.push((await world.run((project) => project.checkpoint({ note: text }))).checkpoint.id)
    }
    const restore = async (checkpoint: string | undefined) => {
      const worktree = join(scratchFolder(), 'restored')
      await world.run((project) =>
        project.checkpoints.restore({
          to: { worktree },
          ...(checkpoint === undefined ? {} : { checkpoint }),
        }),
      )
      return readFileSync(join(worktree, 'a.txt'), 'utf8')
    }
    expect(await restore('1')).toBe('state one\n')
    expect(await restore(made[1]!.slice(-6))).toBe('state two\n')
    expect(await restore(undefined)).toBe('state three\n')
    await refused(restore('17'), 'NO_CHECKPOINT')
  })

  test('is created without code where there is none or none is wanted', async () => {
    const world = await started()
    const { checkpoint } = await world.run((project) => project.checkpoint({ code: false }))
    expect(checkpoint.code).toBeUndefined()
    await refused(
      world.run((project) => project.checkpoints.restore()),
      'NO_CODE',
    )
    const outside = plainProject()
    await outside.run((project) => project.init({ name: 'work' }))
    expect((await outside.run((project) => project.checkpoint())).checkpoint.code).toBeUndefined()
  })

  test('writes a readable copy', async () => {
    const world = await started()
    await world.run((project) => project.checkpoint({ note: 'Before refactor' }))
    const folder = join('.sessions', 'journal', world.sessionId(), 'entries')
    expect(world.names(folder)).toEqual([
      expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z-[0-9a-f]{6}\.md$/),
    ])
    const copy = world.read(folder, world.names(folder)[0]!)
    expect(copy).toContain('# Checkpoint: Before refactor\n')
    expect(copy).toContain('## TL;DR (Read This First)\nMake it work.')
  })

  test('renews an outdated TL;DR and the key context', async () => {
    const world = await started()
    const tldr = () => /## TL;DR \(Read This First\)\n(.*)\n/.exec(world.document())![1]
    await world.run((project) => project.log({ entries: [{ tldr: 'Just begun.' }] }))
    await world.run((project) =>
      project.log({
        entries: [
          { step: 'Reproduce' },
          { step: 'Mend' },
          { done: 'Reproduce' },
          { discovery: 'Lock ordering: watcher first' },
          { decision: 'Use a mutex', rationale: 'it is simple' },
        ],
      }),
    )
    expect(tldr()).toBe('Just begun.')
    const { checkpoint } = await world.run((project) => project.checkpoint())
    expect(tldr()).toBe('Just begun. Latest: Lock ordering: watcher first. Now: Mend.')
    expect(checkpoint.tldr).toBe(tldr())
    const key = world.document().split('(survives compaction):\n')[1]!.split('\n\n')[0]
    expect(key).toBe(
      '- Lock ordering: watcher first\n- Decided: Use a mutex (because it is simple)',
    )
    expect(world.read('.sessions', 'journal', world.sessionId(), 'progress.md')).toContain(key)
  })

  test('adds a line to the key context once, and never one that the user removed', async () => {
    const world = await started()
    await world.run((project) =>
      project.log({ entries: [{ discovery: 'One' }, { discovery: 'Two' }] }),
    )
    await world.run((project) => project.checkpoint())
    world.edit('- One\n', '')
    await world.run((project) => project.checkpoint())
    await world.run((project) => project.checkpoint())
    expect(world.entries('key.added')).toMatchObject([{ text: 'One' }, { text: 'Two' }])
    expect(world.document()).toContain('(survives compaction):\n- Two\n\n')
  })

  test('keeps its TL;DR until the next entry', async () => {
    const world = await started()
    await world.run((project) => project.log({ entries: [{ discovery: 'One' }] }))
    await world.run((project) => project.checkpoint({ tldr: 'Half way.' }))
    await world.run((project) => project.checkpoint())
    expect(world.document()).toContain('## TL;DR (Read This First)\nHalf way.\n')
    expect(world.entries('checkpoint.made')).toMatchObject([
      { tldr: 'Half way.' },
      { tldr: 'Half way.' },
    ])
  })

  test('counts a compaction with preCompact', async () => {
    const world = await started()
    await world.run((project) => project.checkpoint({ preCompact: true }))
    expect(world.document()).toContain('compaction_count: 1\n')
  })
})

describe('several entries in one call', () => {
  test('may refer to each other', async () => {
    const world = plainProject()
    await world.run((project) => project.init({ name: 'work' }))
    const { reading } = await world.run((project) =>
      project.log({
        entries: [
          { step: 'A' },
          { step: 'B' },
          { current: 'A' },
          { done: 'A' },
          { blocker: 'No docs' },
          { resolved: 'No docs', resolution: 'found them' },
          { next: 'C' },
          { done: 'C' },
        ],
      }),
    )
    expect(reading.state.steps.items.map(({ text, status }) => [text, status])).toEqual([
      ['A', 'done'],
      ['B', 'started'],
      ['C', 'done'],
    ])
    expect(reading.state.blockers.items[0]).toMatchObject({ resolution: 'found them' })
    expect(reading.state.next.items).toEqual([])
  })

  test('are appended all or none', async () => {
    const world = plainProject()
    await world.run((project) => project.init({ name: 'work' }))
    const before = world.journal().length
    await refused(
      world.run((project) =>
        project.log({ entries: [{ progress: 'x' }, { resolved: 'nothing' }] }),
      ),
      'NOT_FOUND',
    )
    await refused(
      world.run((project) => project.log({ entries: [{ progress: 'x' }, { note: ' ' }] })),
      'EMPTY_TEXT',
    )
    expect(world.journal()).toHaveLength(before)
  })
})

describe('undoing', () => {
  async function logged() {
    const world = plainProject()
    await world.run((project) => project.init({ name: 'work' }))
    const { appended } = await world.run((project) =>
      project.log({ entries: [{ decision: 'Use a mutex' }, { progress: 'Wrong' }] }),
    )
    return { world, decision: appended[0]!.id, progress: appended[1]!.id }
  }

  test('an entry can be amended field by field, and the journal keeps the original', async () => {
    const { world, decision } = await logged()
    await world.run((project) =>
      project.log({ amend: { entry: decision.slice(-6), changes: { rationale: 'it is simple' } } }),
    )
    expect(world.document()).toContain('**Choice**: Use a mutex\n**Rationale**: it is simple\n')
    expect(world.entries('decision.made')).toEqual([{ title: 'Use a mutex' }])
  })

  test('an entry can be retracted with a reason, and so can the retraction', async () => {
    const { world, progress } = await logged()
    const { appended } = await world.run((project) =>
      project.log({ retract: [progress], reason: 'wrong session' }),
    )
    expect(world.document()).not.toContain('- Wrong (')
    expect(world.entries('entry.retracted')).toEqual([{ entry: progress, reason: 'wrong session' }])
    await world.run((project) => project.log({ retract: [appended[0]!.id] }))
    expect(world.document()).toContain('- Wrong (')
  })

  test('retracting the opening entry or amending an unknown field is refused', async () => {
    const { world, progress } = await logged()
    const [opened] = world.journal()
    await refused(
      world.run((project) => project.log({ retract: [opened!.id] })),
      'NOT_RETRACTABLE',
    )
    await refused(
      world.run((project) =>
        project.log({ amend: { entry: progress, changes: { rationale: 'x' } } }),
      ),
      'NOT_AMENDABLE',
    )
    await refused(
      world.run((project) => project.log({ retract: ['ffffffffffff'] })),
      'NO_ENTRY',
    )
  })
})

describe('a secret', () => {
  const TOKEN = `ghp_${'a1b2c3d4'.repeat(5).slice(0, 36)}`
  const KEY = 'AKIAIOSFODNN7EXAMPLQ'

  /** Every byte under a folder, with git's objects decompressed. */
  function everything(world: World): string {
    const files = ['.sessions', '.tasks', '.git/stint'].flatMap((folder) =>
      existsSync(world.path(folder))
        ? [...readdirSync(world.path(folder), { recursive: true, encoding: 'utf8' })].map((path) =>
            join(folder, path),
          )
        : [],
    )
    const texts = files
      .filter((path) => statSync(world.path(path)).isFile())
      .map((path) => `${path}\n${readFileSync(world.path(path), 'latin1')}`)
    const refs = world.git('for-each-ref', '--format=%(refname) %(contents)', 'refs/stint')
    return [...texts, refs].join('\n')
  }

  test('never reaches the disk, whichever way it enters', async () => {
    const world = gitProject()
    await world.run((project) =>
      project.tasks.add({ title: `Rotate ${KEY}`, description: `it is ${TOKEN}` }),
    )
    const { reading } = await world.run((project) =>
      project.init({ goal: `Use ${KEY} for now`, title: `About ${TOKEN}` }),
    )
    await world.run((project) =>
      project.log({
        entries: [
          { goal: `Use ${TOKEN}` },
          { step: `Send ${TOKEN}` },
          {
            decision: `Keep ${TOKEN}`,
            context: TOKEN,
            options: TOKEN,
            choice: TOKEN,
            rationale: TOKEN,
          },
          { discovery: `It is ${KEY}` },
          { blocker: `Lacking ${TOKEN}` },
          { resolved: 'Lacking', resolution: TOKEN },
          { next: TOKEN },
          { key: TOKEN },
          { file: `secrets/${TOKEN}`, description: TOKEN },
          { command: `curl -H "Authorization: Bearer ${TOKEN}" example.com` },
          { note: TOKEN },
          { tldr: TOKEN },
        ],
      }),
    )
    const { appended } = await world.run((project) =>
      project.log({ entries: [{ progress: 'Harmless' }] }),
    )
    await world.run((project) =>
      project.log({ amend: { entry: appended[0]!.id, changes: { text: TOKEN } } }),
    )
    await world.run((project) => project.log({ retract: [appended[0]!.id], reason: TOKEN }))
    world.write('a.txt', 'changed\n')
    await world.run((project) => project.checkpoint({ note: `With ${TOKEN}`, tldr: TOKEN }))
    world.edit(
      '## Blockers\n',
      `## Of mine\n${TOKEN}\n\n## Blockers\nSee ${TOKEN}\n\n`,
      reading.state.id,
    )
    await world.run((project) => project.pause({ note: `For ${TOKEN}` }))
    await world.run((project) =>
      project.close({ how: 'abandoned', reason: TOKEN, session: reading.state.id }),
    )
    // Names are made from texts, in lower case.
    const all = everything(world).toLowerCase()
    expect(all).not.toContain(TOKEN.slice(4))
    expect(all).not.toContain(KEY.toLowerCase())
    expect(all).toContain('[redacted:')
    expect(world.messages.join('\n')).toContain('redacted (github-token)')
  })

  test('is found by configured patterns, and an allowed text is kept', async () => {
    const world = plainProject()
    world.write(
      '.sessions/config.yaml',
      `redact:\n  patterns: ['ACME-[0-9]+']\n  allow: ['${KEY}']\n`,
    )
    await world.run((project) => project.init({ name: 'work' }))
    await world.run((project) => project.log({ entries: [{ progress: `ACME-1234 and ${KEY}` }] }))
    expect(world.entries('progress.made')).toEqual([
      { text: expect.stringMatching(`^\\[redacted:.*\\] and ${KEY}$`) },
    ])
  })
})

describe('nothing is lost', () => {
  /** The contents of sessions and tasks, without their paths. */
  const readAll = (world: World) =>
    world.run(async (project) => {
      const sessions = await Promise.all(
        [...(await project.list())].map(async (row) => (await project.view(row.id)).state),
      )
      return {
        sessions,
        tasks: (await project.tasks.list()).tasks.map(({ title, status }) => [title, status]),
      }
    })

  async function history() {
    const world = gitProject()
    await world.run((project) => project.tasks.add({ title: 'Mend it' }))
    await world.run((project) => project.init({ tasks: ['mend-it'] }))
    await world.run((project) => project.log({ entries: [{ progress: 'One' }] }))
    await world.run((project) => project.pause())
    await world.run((project) => project.init({ name: 'other' }))
    await world.run((project) => project.log({ entries: [{ decision: 'Two' }] }))
    return world
  }

  const losses: Readonly<Record<string, (world: World) => void>> = {
    'git clean -fdx': (world) => world.git('clean', '-fdxq'),
    'rm -r .sessions': (world) => rmSync(world.path('.sessions'), { recursive: true }),
    'rm -r .sessions .tasks': (world) => {
      rmSync(world.path('.sessions'), { recursive: true })
      rmSync(world.path('.tasks'), { recursive: true })
    },
    'rm of the second names': (world) => rmSync(world.path('.git', 'stint'), { recursive: true }),
  }

  test.each(Object.keys(losses))('by %s', async (loss) => {
    const world = await history()
    const before = await readAll(world)
    losses[loss]!(world)
    expect(await readAll(world)).toEqual(before)
    expect(world.names('.sessions', 'active')).toHaveLength(2)
    expect(world.names('.tasks', 'active')).toHaveLength(1)
  })

  test('by git clean -fdx before every command', async () => {
    const world = gitProject()
    const clean = () => world.git('clean', '-fdxq')
    await world.run((project) => project.init({ name: 'work' }))
    for (const text of ['One', 'Two', 'Three']) {
      clean()
      await world.run((project) => project.log({ entries: [{ progress: text }] }))
    }
    clean()
    await world.run((project) => project.checkpoint())
    clean()
    await world.run((project) => project.pause())
    clean()
    await world.run((project) => project.resume())
    clean()
    const { state } = await world.view()
    expect(state.progress.items.map(({ text }) => text)).toEqual(['One', 'Two', 'Three'])
    expect(state.status).toBe('active')
    expect(world.document()).toContain('- Three (')
  })

  test('by checking out a commit from before sessions were shared', async () => {
    const world = gitProject()
    world.write('.sessions/config.yaml', 'share: git\n')
    await world.run((project) => project.init({ name: 'work' }))
    await world.run((project) => project.log({ entries: [{ progress: 'One' }] }))
    world.commit('with sessions')
    await world.run((project) => project.log({ entries: [{ progress: 'Two' }] }))
    world.git('stash', '--quiet', '--include-untracked')
    world.git('checkout', '--quiet', 'HEAD~1')
    const { state } = await world.view('work')
    expect(state.progress.items.map(({ text }) => text)).toEqual(['One', 'Two'])
  })
})

describe('sessions', () => {
  test('are not committed by default', async () => {
    const world = gitProject()
    await world.run((project) => project.init({ name: 'work' }))
    await world.run((project) => project.log({ entries: [{ progress: 'One' }] }))
    expect(world.read('.sessions', '.gitignore')).toBe('*\n')
    expect(world.git('status', '--porcelain')).toBe('')
  })

  test('shared through git are journals and documents, without rebuildable files', async () => {
    const world = gitProject()
    world.write('.sessions/config.yaml', 'share: git\n')
    await world.run((project) => project.init({ name: 'work' }))
    await world.run((project) => project.checkpoint())
    const id = world.sessionId()
    const shared = world.git('ls-files', '--others', '--exclude-standard').trim().split('\n')
    expect(shared.toSorted()).toEqual(
      [
        '.sessions/.gitattributes',
        '.sessions/.gitignore',
        '.sessions/config.yaml',
        world.documentPath(),
        `.sessions/journal/${id}/log.jsonl`,
        `.sessions/journal/${id}/entries/${world.names('.sessions', 'journal', id, 'entries')[0]}`,
      ].toSorted(),
    )
    expect(world.git('check-attr', 'merge', '--', `.sessions/journal/${id}/log.jsonl`)).toContain(
      'merge: union',
    )
  })

  test('are shared while the setting is on, from the next command', async () => {
    const world = gitProject()
    await world.run((project) => project.init({ name: 'work' }))
    world.write('.sessions/config.yaml', 'share: git\n')
    await world.view()
    expect(world.git('status', '--porcelain', '--untracked-files=all')).toContain('log.jsonl')
    world.write('.sessions/config.yaml', 'share: none\n')
    await world.view()
    expect(world.git('status', '--porcelain')).toBe('')
    // The user's own text stays while it ignores what is private.
    world.write('.sessions/.gitignore', '*\n!config.yaml\n')
    await world.view()
    expect(world.read('.sessions', '.gitignore')).toBe('*\n!config.yaml\n')
  })

  test('merged from two clones hold the entries of both', async () => {
    const folder = scratchFolder()
    git(folder, 'init', '--quiet', '--bare', '--initial-branch=main', 'hub.git')
    const first = gitProject(join(folder, 'first'))
    first.git('remote', 'add', 'origin', join(folder, 'hub.git'))
    first.write('.sessions/config.yaml', 'share: git\n')
    await first.run((project) => project.init({ name: 'work' }))
    await first.run((project) =>
      project.log({ entries: [{ step: 'One' }, { progress: 'Common' }] }),
    )
    first.commit('start')
    first.git('push', '--quiet', '-u', 'origin', 'main')
    git(folder, 'clone', '--quiet', 'hub.git', 'second')
    agreeTo(join(folder, 'second'))
    const second = new World(join(folder, 'second'))
    for (const [key, value] of [
      ['name', 'Other'],
      ['email', 'other@example.invalid'],
    ])
      second.git('config', `user.${key}`, value!)

    const id = first.sessionId()
    expect((await second.view()).state.progress.items.map(({ text }) => text)).toEqual(['Common'])
    await first.run((project) =>
      project.log({ entries: [{ progress: 'Of the first' }, { done: 'One' }] }),
    )
    first.commit('first')
    first.git('push', '--quiet')
    await second.run((project) =>
      project.log({ entries: [{ progress: 'Of the second' }, { key: 'Of the second' }] }),
    )
    second.commit('second')

    merge(second)
    const merged = (await second.view('work')).state
    expect(merged.progress.items.map(({ text }) => text)).toEqual([
      'Common',
      'Of the first',
      'Of the second',
    ])
    expect(second.setAside()).toEqual([])
    expect(second.document()).toContain('- Of the first (')
    expect(second.document()).toContain('- Of the second (')
    second.commit('merged')
    second.git('push', '--quiet')

    first.git('pull', '--quiet')
    const pulled = (await first.view('work')).state
    expect(pulled.progress).toEqual(merged.progress)
    expect(pulled.steps).toEqual(merged.steps)
    expect(pulled.key).toEqual(merged.key)
    expect(new Set(first.journal(id).map((entry) => entry.id))).toEqual(
      new Set(second.journal(id).map((entry) => entry.id)),
    )
  })

  /** Merges what was pushed. Git merges the log; the document conflicts and keeps the local version. */
  function merge(world: World): void {
    world.git('fetch', '--quiet')
    expect(() =>
      execFileSync('git', ['merge', '--quiet', '--no-edit', 'origin/main'], {
        cwd: world.root,
        stdio: 'ignore',
      }),
    ).toThrow()
    expect(world.git('diff', '--name-only', '--diff-filter=U').trim()).toBe(world.documentPath())
    expect(world.document()).not.toContain('<<<<<<<')
  }
})

describe('the configuration', () => {
  test('with a mistake stops the command, naming file and mistake', async () => {
    const world = plainProject()
    world.write('.sessions/config.yaml', 'shear: git\n')
    const error = await world
      .run((project) => project.init({ name: 'work' }))
      .catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(StintError)
    expect((error as StintError).code).toBe('CONFIG_INVALID')
    expect((error as StintError).message).toContain('config.yaml')
    expect((error as StintError).message).toContain('shear')
  })
})
