import { existsSync, mkdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadSqlite } from '../../src/index/sqlite.ts'
import { AmbiguousSession, NoSession, StintError } from '../../src/library.ts'
import { type Project } from '../../src/core.ts'
import { World, gitProject, plainProject } from '../support/project.ts'
import { git, scratchFolder } from '../support/scratch.ts'

const init = (world: World, name: string, cwd = world.root) =>
  world.run((project) => project.init({ name }), { cwd }).then(({ reading }) => reading.state.id)

const active = (world: World, cwd = world.root) =>
  world.run((project) => project.active(), { cwd }).then((row) => row?.name)

const note = (project: Project) => project.log({ entries: [{ note: 'x' }] })

/** The error that a promise rejects with. */
async function refusal<E extends Error>(
  work: Promise<unknown>,
  type: new (...args: never[]) => E,
): Promise<E> {
  const outcome = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(outcome).toBeInstanceOf(type)
  return outcome as E
}

test('an index that names a folder elsewhere as a session leads to no other file', async () => {
  const world = gitProject()
  const id = await init(world, 'mine')
  // Builds the index.
  await world.run(async (project) => [...(await project.list())])
  const other = gitProject()
  await init(other, 'private')
  const elsewhere = relative(world.path('.sessions', 'journal'), other.path('.sessions', 'journal'))
  const database = new (loadSqlite().DatabaseSync)(world.path('.sessions', 'index.db'))
  database.exec('PRAGMA foreign_keys = OFF')
  const target = join(elsewhere, other.sessionId())
  database.prepare("UPDATE sessions SET id = ?, name = 'forged' WHERE id = ?").run(target, id)
  database.close()
  const { message } = await world.run((project) => refusal(project.view('forged'), StintError))
  expect(message).toContain('is not the id of a session')
})

describe('the project', () => {
  test('is found from any subfolder of a repository', async () => {
    const world = gitProject()
    await init(world, 'here')
    const deep = world.path('src', 'deep', 'er')
    mkdirSync(deep, { recursive: true })
    expect(await active(world, deep)).toBe('here')
    await world.run(note, { cwd: deep })
    expect(existsSync(join(deep, '.sessions'))).toBe(false)
    expect(world.entries('note.added')).toHaveLength(1)
  })

  test('is the whole repository when a session starts in a subfolder', async () => {
    const world = gitProject()
    mkdirSync(world.path('src'))
    await init(world, 'here', world.path('src'))
    expect(world.names('.sessions', 'active')).toHaveLength(1)
    expect(existsSync(world.path('src', '.sessions'))).toBe(false)
  })

  test('is the nearest folder with sessions outside git', async () => {
    const world = plainProject()
    await init(world, 'here')
    const deep = world.path('src', 'deep')
    mkdirSync(deep, { recursive: true })
    expect(await active(world, deep)).toBe('here')
    await world.run((project) => project.pause(), { cwd: deep })
    await init(world, 'deep', deep)
    expect(existsSync(join(deep, '.sessions'))).toBe(false)
    expect(world.names('.sessions', 'journal')).toHaveLength(2)
  })

  test('is the folder itself outside git without sessions', async () => {
    const world = plainProject()
    mkdirSync(world.path('a'))
    await init(world, 'here', world.path('a'))
    expect(world.names('a', '.sessions', 'active')).toHaveLength(1)
    expect(await active(world)).toBeUndefined()
  })

  test('is not created by commands that only read', async () => {
    const world = gitProject()
    expect(await active(world)).toBeUndefined()
    expect(await world.run(async (project) => [...(await project.list())])).toEqual([])
    await refusal(world.view(), NoSession)
    expect(existsSync(world.path('.sessions'))).toBe(false)
    expect(world.names('.git')).not.toContain('stint')
  })

  test('is the main worktree, with its sessions, in a linked worktree', async () => {
    const world = gitProject()
    const id = await init(world, 'main-work')
    const linked = join(scratchFolder(), 'linked')
    world.git('worktree', 'add', '--quiet', '-b', 'other', linked)
    expect(await active(world, linked)).toBe('main-work')
    await world.run(note, { cwd: linked })
    expect(world.entries('note.added', id)).toHaveLength(1)
    expect(existsSync(join(linked, '.sessions'))).toBe(false)
  })

  test.each(['project.git', '.bare'])(
    'is shared by all worktrees of the bare repository %s',
    async (name) => {
      const folder = scratchFolder()
      const source = gitProject(join(folder, 'source'))
      git(folder, 'clone', '--quiet', '--bare', source.root, name)
      for (const branch of ['one', 'two'])
        git(join(folder, name), 'worktree', 'add', '--quiet', '-b', branch, join(folder, branch))
      const world = new World(join(folder, 'one'))
      await init(world, 'first-work')
      await init(world, 'second-work', join(folder, 'two'))
      expect(await active(world)).toBe('first-work')
      expect(await active(world, join(folder, 'two'))).toBe('second-work')
      expect(existsSync(join(folder, 'one', '.sessions'))).toBe(false)
      expect(existsSync(join(folder, 'two', '.sessions'))).toBe(false)
      git(join(folder, name), 'worktree', 'remove', '--force', join(folder, 'one'))
      const names = await world.run(
        async (project) => [...(await project.list())].map((row) => row.name),
        {
          cwd: join(folder, 'two'),
        },
      )
      expect(names.toSorted()).toEqual(['first-work', 'second-work'])
    },
  )
})

describe('choosing among several active sessions', () => {
  test('takes the session of the branch', async () => {
    const world = gitProject()
    await init(world, 'on-main')
    world.git('switch', '--quiet', '-c', 'feature')
    await init(world, 'on-feature')
    expect(await active(world)).toBe('on-feature')
    world.git('switch', '--quiet', 'main')
    expect(await active(world)).toBe('on-main')
  })

  test('takes the session of the worktree', async () => {
    const world = gitProject()
    await init(world, 'on-main')
    const linked = join(scratchFolder(), 'linked')
    world.git('worktree', 'add', '--quiet', '-b', 'other', linked)
    await init(world, 'on-other', linked)
    expect(await active(world, linked)).toBe('on-other')
    expect(await active(world)).toBe('on-main')
    // Even after the worktree moved to another branch.
    git(linked, 'switch', '--quiet', '-c', 'third')
    expect(await active(world, linked)).toBe('on-other')
  })

  test('takes a session of another worktree only when there is no other', async () => {
    const world = gitProject()
    const linked = join(scratchFolder(), 'linked')
    world.git('worktree', 'add', '--quiet', '-b', 'other', linked)
    await init(world, 'on-other', linked)
    expect(await active(world)).toBe('on-other')
    await init(world, 'on-main')
    world.git('switch', '--quiet', '-c', 'elsewhere')
    expect(await active(world)).toBe('on-main')
  })

  test('takes none when nothing decides, and names the candidates', async () => {
    const world = gitProject()
    const ids = [await init(world, 'on-main')]
    world.git('switch', '--quiet', '-c', 'feature')
    ids.push(await init(world, 'on-feature'))
    world.git('switch', '--quiet', '-c', 'third')
    const before = ids.map((id) => world.journal(id).length)
    const error = await refusal(world.run(note), AmbiguousSession)
    expect(error.candidates.map((row) => row.id).toSorted()).toEqual(ids.toSorted())
    for (const id of ids) expect(error.message).toContain(id.slice(-6))
    expect(error.message).toMatch(/on-main {2}active {2}main/)
    expect(error.code).toBe('SESSION_AMBIGUOUS')
    expect(ids.map((id) => world.journal(id).length)).toEqual(before)
    await world.run((project) => project.log({ session: 'on-main', entries: [{ note: 'x' }] }))
    expect(world.entries('note.added', ids[0])).toHaveLength(1)
  })

  test('moves a session to the branch it was logged to from', async () => {
    const world = gitProject()
    await init(world, 'first')
    world.git('switch', '--quiet', '-c', 'feature')
    await world.run((project) => project.log({ entries: [{ note: 'x' }] }))
    world.git('switch', '--quiet', 'main')
    await init(world, 'second')
    world.git('switch', '--quiet', 'feature')
    expect(await active(world)).toBe('first')
  })
})

describe('a paused session', () => {
  test('is never chosen as active, and the error contains the command that resumes it', async () => {
    const world = gitProject()
    await init(world, 'resting')
    await world.run((project) => project.pause())
    expect(await active(world)).toBeUndefined()
    const commands: ((project: Project) => Promise<unknown>)[] = [
      note,
      (project) => project.checkpoint(),
      (project) => project.pause(),
    ]
    for (const command of commands) {
      const error = await refusal(world.run(command), NoSession)
      expect(error.hint).toContain('stint resume resting')
    }
    expect(world.entries('note.added')).toEqual([])
  })

  test('lets another session start on its branch', async () => {
    const world = gitProject()
    await init(world, 'resting')
    await world.run((project) => project.pause())
    await init(world, 'urgent')
    expect(await active(world)).toBe('urgent')
  })
})

describe('naming a session', () => {
  test('works by id, a unique part of the id, or short name', async () => {
    const world = plainProject()
    const id = await init(world, 'fix-auth')
    await world.run((project) => project.pause())
    await init(world, 'other-work')
    for (const name of [id, id.slice(-6), id.slice(-12, -3), 'fix-auth']) {
      expect((await world.view(name)).state.id).toBe(id)
    }
  })

  test('is refused by a part of an id that two sessions share, with both listed', async () => {
    const world = plainProject()
    const id = await init(world, 'fix-auth')
    await world.run((project) => project.pause())
    await init(world, 'fix-login')
    // Ids begin with the time, and these two were minted in the same minute.
    const error = await refusal(world.view(id.slice(0, 6)), AmbiguousSession)
    expect(error.candidates.map((row) => row.name).toSorted()).toEqual(['fix-auth', 'fix-login'])
  })

  test('works by full name even when another name contains it', async () => {
    const world = plainProject()
    const id = await init(world, 'fix')
    await world.run((project) => project.pause())
    await init(world, 'fix-login')
    expect((await world.view('fix')).state.id).toBe(id)
  })

  test('takes the open session when a closed one has the same name', async () => {
    const world = plainProject()
    await init(world, 'fix')
    await world.run((project) => project.close({ how: 'completed' }))
    const id = await init(world, 'fix')
    expect((await world.view('fix')).state.id).toBe(id)
  })

  test('works by STINT_SESSION unless the command names another', async () => {
    const world = plainProject()
    const first = await init(world, 'first')
    await world.run((project) => project.pause())
    const second = await init(world, 'second')
    const env = { STINT_SESSION: 'first' }
    await world.run(note, { env })
    expect(world.entries('note.added', first)).toHaveLength(1)
    await world.run((project) => project.log({ session: 'second', entries: [{ note: 'x' }] }), {
      env,
    })
    expect(world.entries('note.added', second)).toHaveLength(1)
    await world.run(note, { env: { STINT_SESSION: '' } })
    expect(world.entries('note.added', second)).toHaveLength(2)
  })

  test('fails when no session has that name', async () => {
    const world = plainProject()
    await init(world, 'first')
    const error = await refusal(world.view('nothing-of-the-kind'), NoSession)
    expect(error.message).toBe('there is no session "nothing-of-the-kind"')
    await refusal(world.run(note, { env: { STINT_SESSION: 'gone' } }), NoSession)
  })
})

describe('init', () => {
  test('refuses a second session on the same branch, and changes nothing', async () => {
    const world = gitProject()
    await init(world, 'first')
    const before = world.journal().length
    const error = await refusal(init(world, 'second'), StintError)
    expect(error.code).toBe('SESSION_ACTIVE')
    expect(error.message).toBe('first is active on main')
    expect(error.hint).toContain('stint init --force')
    expect(world.names('.sessions', 'journal')).toHaveLength(1)
    expect(world.journal()).toHaveLength(before)
  })

  test('refuses a second session outside git', async () => {
    const world = plainProject()
    await init(world, 'first')
    expect((await refusal(init(world, 'second'), StintError)).message).toBe('first is active here')
  })

  test('closes the first session with force, and reopen undoes that', async () => {
    const world = gitProject()
    const first = await init(world, 'first')
    const { closed, reading } = await world.run((project) =>
      project.init({ name: 'second', force: true }),
    )
    expect(closed).toBe('first')
    expect(reading.state.name).toBe('second')
    expect(world.entries('session.closed', first)).toMatchObject([
      { how: 'abandoned', reason: 'closed by init --force for second' },
    ])
    expect(world.documentPath(first)).toContain('archive')
    await world.run((project) => project.reopen({ session: 'first' }))
    expect(world.documentPath(first)).toContain('active')
  })

  test('does not touch a session of another branch with force', async () => {
    const world = gitProject()
    await init(world, 'on-main')
    world.git('switch', '--quiet', '-c', 'feature')
    await init(world, 'on-feature')
    await world.run((project) => project.init({ name: 'again', force: true }))
    const rows = await world.run(async (project) =>
      [...(await project.list({ status: ['active'] }))].map((row) => row.name),
    )
    expect(rows.toSorted()).toEqual(['again', 'on-main'])
  })

  test('numbers a name that an open session already has', async () => {
    const world = plainProject()
    await init(world, 'fix')
    await world.run((project) => project.pause())
    const second = await init(world, 'fix')
    expect((await world.view(second)).state.name).toBe('fix-2')
  })

  test('needs a name, a goal or a task', async () => {
    const world = plainProject()
    expect(
      (
        await refusal(
          world.run((project) => project.init({})),
          StintError,
        )
      ).code,
    ).toBe('NEEDS_NAME')
    expect(existsSync(world.path('.sessions', 'journal'))).toBe(false)
  })
})

describe('resume', () => {
  const resumed = (world: World, options = {}) =>
    world.run((project) => project.resume(options)).then(({ reading }) => reading.state.name)

  test('takes the active session by default', async () => {
    const world = plainProject()
    await init(world, 'first')
    await world.run((project) => project.pause())
    await init(world, 'second')
    expect(await resumed(world)).toBe('second')
  })

  test('takes the most recent session when none is active', async () => {
    const world = plainProject()
    for (const name of ['first', 'second', 'third']) {
      await init(world, name)
      await world.run((project) => project.pause())
    }
    await world.run((project) => project.log({ session: 'second', entries: [{ note: 'x' }] }))
    expect(await resumed(world)).toBe('second')
    expect(await active(world)).toBe('second')
  })

  test('takes the most recent session with --last, whichever is active', async () => {
    const world = gitProject()
    await init(world, 'on-main')
    world.git('switch', '--quiet', '-c', 'feature')
    await init(world, 'on-feature')
    world.git('switch', '--quiet', 'main')
    expect(await resumed(world)).toBe('on-main')
    await world.run((project) => project.log({ session: 'on-feature', entries: [{ note: 'x' }] }))
    expect(await resumed(world, { last: true })).toBe('on-feature')
  })

  test('refuses a closed session and prints how to reopen it', async () => {
    const world = plainProject()
    await init(world, 'done')
    await world.run((project) => project.close({ how: 'completed' }))
    expect((await refusal(resumed(world), NoSession)).hint).toContain('stint reopen done')
    const error = await refusal(resumed(world, { session: 'done' }), StintError)
    expect(error.code).toBe('SESSION_CLOSED')
    expect(world.entries('session.resumed')).toEqual([])
  })

  test('records nothing when repeated', async () => {
    const world = plainProject()
    await init(world, 'first')
    await resumed(world)
    await resumed(world)
    expect(world.entries('session.resumed')).toHaveLength(1)
  })

  test('prints how to start a session when there is none', async () => {
    expect((await refusal(resumed(plainProject()), NoSession)).hint).toContain('stint init')
  })
})

describe('git drift since the last entry', () => {
  const drift = (world: World) =>
    world.run((project) => project.resume()).then((resumed) => resumed.drift)

  test('is empty when nothing happened', async () => {
    const world = gitProject()
    await init(world, 'first')
    expect(await drift(world)).toMatchObject({
      commits: 0,
      history: 'kept',
      hasBranchChanged: false,
      dirty: 0,
    })
  })

  test('lists new commits, newest first', async () => {
    const world = gitProject()
    await init(world, 'first')
    world.commit('two', { 'a.txt': 'two\n' })
    world.commit('three', { 'a.txt': 'three\n' })
    world.write('b.txt', 'new\n')
    expect(await drift(world)).toMatchObject({
      commits: 2,
      subjects: ['three', 'two'],
      history: 'kept',
      dirty: 1,
    })
    expect((await drift(world))!.commits).toBe(0)
  })

  test('reports rewritten history after an amend', async () => {
    const world = gitProject()
    await init(world, 'first')
    world.git('commit', '--quiet', '--amend', '-m', 'first, amended')
    expect(await drift(world)).toMatchObject({
      commits: 1,
      subjects: ['first, amended'],
      history: 'rewritten',
    })
  })

  test('reports the branch after a switch', async () => {
    const world = gitProject()
    await init(world, 'first')
    world.git('switch', '--quiet', '-c', 'feature')
    world.commit('on the branch')
    expect(await drift(world)).toMatchObject({
      branchThen: 'main',
      branchNow: 'feature',
      hasBranchChanged: true,
      commits: 1,
      history: 'kept',
    })
  })

  test('is unknown outside git', async () => {
    const world = plainProject()
    await init(world, 'first')
    expect(await drift(world)).toBeUndefined()
  })
})
