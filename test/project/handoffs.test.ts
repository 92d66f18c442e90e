import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Log } from '../../src/journal/log.ts'
import { contentHash } from '../../src/context/handoff/frontmatter.ts'
import type { AcceptHandoffOptions } from '../../src/project/handoff/accept.ts'
import type { CreateHandoffOptions } from '../../src/project/handoff/create.ts'
import { type World, gitProject, plainProject } from '../support/project.ts'
import { git, initRepository, scratchFolder } from '../support/scratch.ts'
import { agreeTo } from '../support/trust.ts'

const CREATOR = { STINT_CONVERSATION: 'maker-1' }
const ACCEPTOR = { STINT_CONVERSATION: 'taker-1' }

/** A project with a session worth handing over. */
async function workingProject(world: World = gitProject()): Promise<World> {
  await world.run((project) => project.init({ name: 'fix-auth', goal: 'Stop the login loop' }))
  await world.run((project) =>
    project.log({
      entries: [
        { step: 'Reproduce it' },
        { step: 'Fix the refresh path' },
        { decision: 'Rotate on the server', rationale: 'clients cannot be trusted with it' },
        { discovery: 'The cookie is set twice' },
        { next: 'Write the regression test' },
      ],
    }),
  )
  return world
}

const create = (world: World, options: CreateHandoffOptions = {}) =>
  world.run((project) => project.handoffs.create(options), { env: CREATOR })
const accept = (world: World, options: AcceptHandoffOptions = {}, cwd = world.root) =>
  world.run((project) => project.handoffs.accept(options), { env: ACCEPTOR, cwd })
const folder = (world: World) => world.path('.sessions', 'journal', world.sessionId(), 'handoffs')
const note = (world: World, progress: string) =>
  world.run((project) => project.log({ entries: [{ progress }] }))

describe('a created handoff', () => {
  test('is a file, an entry with its full text, and a checkpoint with the code', async () => {
    const world = await workingProject()
    world.write('a.txt', 'half done\n')
    const { handoff, path, state } = await create(world, { reason: 'The context is nearly full' })
    const text = readFileSync(path, 'utf8')
    expect(path).toBe(join(folder(world), '1.md'))
    expect(handoff).toMatchObject({
      number: 1,
      document: text,
      hash: contentHash(text),
      conversation: 'maker-1',
    })
    expect(state.handoffs.items).toMatchObject([
      { number: 1, text: 'The context is nearly full', accepted: [] },
    ])
    expect(state.checkpoints.items).toHaveLength(1)
    expect(world.git('show', `${handoff.code!.ref}:a.txt`)).toBe('half done\n')
    expect(text).toContain('1 path not committed: verified (working tree, ')
    expect(text).toContain(
      `Kept as commit \`${handoff.code!.commit.slice(0, 12)}\` under \`refs/stint/\`: verified (kept code, `,
    )
    expect(text).toContain('1. Write the regression test')
    expect(text).toContain('Rotate on the server (because clients cannot be trusted with it)')
  })

  test('leaves index, branch and files as they were', async () => {
    const world = await workingProject()
    world.write('a.txt', 'half done\n')
    world.write('staged.txt', 'x')
    world.git('add', 'staged.txt')
    const before = world.git('status', '--porcelain', '--branch')
    await create(world)
    expect(world.git('status', '--porcelain', '--branch')).toBe(before)
  })

  test.each([{ draft: true }, { code: false }])(
    'saves no code and creates no checkpoint with %j',
    async (options) => {
      const world = await workingProject()
      world.write('a.txt', 'half done\n')
      const { handoff, state } = await create(world, options)
      expect(handoff.code).toBeUndefined()
      expect(state.checkpoints.items).toEqual([])
      expect(handoff.document).toContain('Kept nowhere but in this working tree')
      expect(world.git('for-each-ref', 'refs/stint')).toBe('')
    },
  )

  test('works outside git and reports it', async () => {
    const world = await workingProject(plainProject())
    const { handoff } = await create(world)
    expect(handoff.document).toContain('There is no git repository here')
    expect(await accept(world)).toMatchObject({ outcome: 'loaded', isTaken: true })
  })

  test('gets the next number, even after its files were deleted', async () => {
    const world = await workingProject()
    await create(world)
    rmSync(folder(world), { recursive: true })
    expect((await create(world)).handoff.number).toBe(2)
  })

  test('ends with the project context', async () => {
    const world = await workingProject()
    world.write('package.json', '{"name":"shop","scripts":{"test":"vitest run"}}')
    world.git('add', 'package.json')
    const { handoff } = await create(world)
    expect(handoff.document).toMatch(/## The project\n[^]*npm test[^]*$/)
  })

  test('names the verify command of the project, and of its tasks', async () => {
    const world = gitProject()
    world.write('.sessions/config.yaml', 'verify: make check\n')
    await world.run((project) => project.tasks.add({ title: 'One', verify: 'make one' }))
    await world.run((project) => project.init({ tasks: ['one'] }))
    const { handoff } = await create(world)
    expect(handoff.document).toContain('`make check`: unverified (no run of it is recorded)')
    expect(handoff.document).toContain('`make one`: unverified (no run of it is recorded)')
    expect(handoff.document).toContain('one (One) is in_progress: verified (backlog)')
  })

  test.each([599, 12_001, 0])('is refused with a limit of %i tokens', async (tokens) => {
    const world = await workingProject()
    await expect(create(world, { tokens })).rejects.toMatchObject({
      code: 'BAD_BOUND',
      hint: expect.stringContaining('600'),
    })
  })

  test('holds no secret from the journal, the reason or a file name', async () => {
    const world = gitProject()
    world.write('.sessions/config.yaml', 'redact:\n  patterns: ["ACME-[0-9]{6}"]\n')
    await world.run((project) => project.init({ name: 's' }))
    world.write('notes-ACME-123456.txt', 'x')
    const { handoff, path } = await create(world, { reason: 'rotate ACME-654321 first' })
    expect(readFileSync(path, 'utf8')).toBe(handoff.document)
    for (const text of [handoff.document, handoff.text]) {
      expect(text).not.toContain('ACME-')
      expect(text).toContain('[redacted:custom]')
    }
    expect(await accept(world, { force: true })).toMatchObject({
      outcome: expect.not.stringContaining('mismatch'),
    })
  })

  test('is refused when a user pattern matches its hash, and leaves nothing behind', async () => {
    const world = gitProject()
    world.write('.sessions/config.yaml', 'redact:\n  patterns: ["[0-9a-f]{64}"]\n')
    await world.run((project) => project.init({ name: 's' }))
    await expect(create(world)).rejects.toMatchObject({ code: 'HANDOFF_REDACTED' })
    expect(world.names('.sessions', 'journal', world.sessionId(), 'handoffs')).toEqual([])
  })

  test('is refused for a name that is neither task nor session', async () => {
    const world = await workingProject()
    await expect(create(world, { to: 'nobody' })).rejects.toMatchObject({ code: 'NO_TARGET' })
  })
})

describe('a handoff file', () => {
  test('is restored with the same bytes after it was deleted', async () => {
    const world = await workingProject()
    const { path } = await create(world)
    const before = readFileSync(path)
    rmSync(path)
    await world.view()
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  test('stays as it is after it was edited', async () => {
    const world = await workingProject()
    const { path } = await create(world)
    writeFileSync(path, 'mine now\n')
    await world.view()
    expect(readFileSync(path, 'utf8')).toBe('mine now\n')
  })
})

describe('accepting a handoff', () => {
  test('loads a valid one, records that, and binds the conversation', async () => {
    const world = await workingProject()
    world.write('a.txt', 'half done\n')
    const { handoff } = await create(world)
    const accepted = await accept(world)
    expect(accepted).toMatchObject({
      outcome: 'loaded',
      isTaken: true,
      isForced: false,
      moved: [],
      text: handoff.document,
    })
    expect(accepted.bound).toMatchObject({ name: 'fix-auth' })
    expect(world.entries('handoff.accepted')).toEqual([
      { handoff: handoff.id, hash: handoff.hash, outcome: 'loaded', conversation: 'taker-1' },
    ])
    const notes = JSON.parse(world.read('.git', 'stint', 'conversations', 'taker-1.json'))
    expect(notes).toMatchObject({ session: world.sessionId() })
    const { state } = await world.view()
    expect(state.handoffs.items[0]!.accepted).toMatchObject([
      { outcome: 'loaded', isForced: false, conversation: 'taker-1' },
    ])
  })

  test('loads it again, and reports that it was accepted before', async () => {
    const world = await workingProject()
    await create(world)
    await accept(world)
    expect(await accept(world)).toMatchObject({
      outcome: 'loaded',
      notes: [expect.stringContaining('taken up before')],
    })
  })

  test('loads it after the entries that handing over itself adds', async () => {
    const world = await workingProject()
    await world.run((project) => project.tasks.add({ title: 'One' }))
    await create(world)
    const session = world.sessionId()
    await world.run((project) => project.checkpoint({ note: 'once more' }))
    await world.run((project) => project.pause({ note: 'for today' }))
    appendAs(world, session, [
      { kind: 'turn.ended', data: { conversation: 'maker-1', said: 'Handed over.' } },
      { kind: 'conversation.ended', data: { conversation: 'maker-1', reason: 'other' } },
      {
        kind: 'conversation.joined',
        data: { conversation: 'taker-1', harness: 'codex', source: 'startup' },
      },
      { kind: 'request.made', data: { conversation: 'taker-1', text: 'take it up' } },
    ])
    await world.view('fix-auth')
    expect(await accept(world)).toMatchObject({ outcome: 'loaded', moved: [] })
  })

  const MOVES: readonly [string, (world: World) => unknown, RegExp][] = [
    [
      'HEAD moved',
      (world) => world.commit('more', { 'b.txt': 'x' }),
      /^HEAD was \w{7} and is \w{7}, 1 new commit \(more\): git log/,
    ],
    [
      'HEAD went back',
      (world) => {
        world.git('reset', '--quiet', '--hard', 'HEAD^')
        world.write('a.txt', 'half done\n')
      },
      /^HEAD was (\w{7}) and is (\w{7}), it went back: git log --oneline \2\.\.\1$/,
    ],
    [
      'another branch is checked out',
      (world) => world.git('switch', '--quiet', '--create', 'other'),
      /^the branch was main and is other: git switch main goes back/,
    ],
    [
      'an uncommitted file changed',
      (world) => world.write('a.txt', 'other\n'),
      /^changed: a\.txt$/,
    ],
    [
      'an uncommitted file was taken back',
      (world) => world.git('restore', 'a.txt'),
      /^changed: a\.txt$/,
    ],
    ['a file is gone', (world) => rmSync(world.path('a.txt')), /^gone: a\.txt$/],
    [
      'another file is uncommitted',
      (world) => world.write('c.txt', 'x'),
      /^uncommitted now, and not then: c\.txt$/,
    ],
    [
      'the journal went on',
      (world) => note(world, 'More done'),
      /^the journal went on, 1 added \(1 progress\.made\): stint view fix-auth --entries/,
    ],
    [
      'the maker went on working',
      (world) =>
        appendAs(world, world.sessionId(), [
          { kind: 'request.made', data: { conversation: 'maker-1', text: 'and do this too' } },
        ]),
      /^the journal went on, 1 added \(1 request\.made\)/,
    ],
    [
      'another conversation worked on it',
      (world) =>
        appendAs(world, world.sessionId(), [
          { kind: 'turn.ended', data: { conversation: 'third', said: 'x' } },
        ]),
      /^the journal went on, 1 added \(1 turn\.ended\)/,
    ],
    [
      'the kept code is gone',
      (world) =>
        world.git(
          'update-ref',
          '-d',
          world.git('for-each-ref', '--format=%(refname)', 'refs/stint').trim(),
        ),
      /^the uncommitted work, kept as refs\/stint\/\S+, is not here/,
    ],
    [
      'the session was completed',
      (world) => world.run((project) => project.close({ how: 'completed' })),
      /^the session is completed/,
    ],
  ]

  test.each(MOVES)('records it as stale and does not resume when %s', async (_, move, expected) => {
    const world = gitProject()
    world.commit('second', { 'x.txt': 'x' })
    await workingProject(world)
    world.write('a.txt', 'half done\n')
    const { handoff } = await create(world)
    await move(world)
    const accepted = await accept(world, { handoff: 'fix-auth' })
    expect(accepted).toMatchObject({ outcome: 'stale', isTaken: false })
    expect(accepted.moved).toEqual([expect.stringMatching(expected)])
    expect(world.entries('handoff.accepted')).toMatchObject([
      { handoff: handoff.id, outcome: 'stale', moved: accepted.moved },
    ])
    expect(existsSync(world.path('.git', 'stint', 'conversations', 'taker-1.json'))).toBe(false)
  })

  test('resumes a stale one with force, and records that', async () => {
    const world = await workingProject()
    await create(world)
    await note(world, 'More done')
    expect(await accept(world, { force: true })).toMatchObject({
      outcome: 'stale',
      isForced: true,
      isTaken: true,
    })
    expect(world.entries('handoff.accepted')).toMatchObject([{ outcome: 'stale', forced: true }])
  })

  test('finds it stale when a task was completed elsewhere, not when it was only paused', async () => {
    const world = gitProject()
    await world.run((project) => project.tasks.add({ title: 'One' }))
    await world.run((project) => project.init({ tasks: ['one'] }))
    await create(world)
    await world.run((project) => project.pause())
    expect(await accept(world)).toMatchObject({ outcome: 'loaded' })
    await world.run((project) => project.tasks.move('one', 'completed'))
    const { outcome, moved } = await accept(world)
    expect({ outcome, moved }).toEqual({
      outcome: 'stale',
      moved: [expect.stringMatching(/^task \S+ was in_progress and is completed: stint task show/)],
    })
  })

  test('reports an edited document as a mismatch, keeps it, and names the recorded one', async () => {
    const world = await workingProject()
    const { path, handoff } = await create(world)
    const edited = handoff.document.replace('Write the regression test', 'Delete the tests')
    writeFileSync(path, edited)
    const refused = await accept(world)
    expect(refused).toMatchObject({ outcome: 'mismatch', isTaken: false })
    expect(refused.moved).toEqual([
      expect.stringMatching(/was edited or damaged.*stint handoff show fix-auth\/1 shows/),
    ])
    expect(readFileSync(path, 'utf8')).toBe(edited)
    expect(
      (await world.run((project) => project.handoffs.show({ handoff: 'fix-auth/1' }))).handoff
        .document,
    ).toBe(handoff.document)
    expect(await accept(world, { force: true })).toMatchObject({
      outcome: 'mismatch',
      isForced: true,
      isTaken: true,
      text: edited,
    })
    expect(world.entries('handoff.accepted')).toMatchObject([
      { outcome: 'mismatch' },
      { outcome: 'mismatch', forced: true },
    ])
  })

  test('ignores different line endings', async () => {
    const world = await workingProject()
    const { path, handoff } = await create(world)
    writeFileSync(path, handoff.document.replaceAll('\n', '\r\n'))
    expect(await accept(world)).toMatchObject({ outcome: 'loaded' })
  })

  test('restores a missing file', async () => {
    const world = await workingProject()
    const { path, handoff } = await create(world)
    rmSync(path)
    expect(await accept(world)).toMatchObject({
      outcome: 'loaded',
      notes: [expect.stringContaining('written again')],
    })
    expect(readFileSync(path, 'utf8')).toBe(handoff.document)
  })

  test('reports after a purge that the recorded text was changed', async () => {
    const world = await workingProject()
    const { path } = await create(world)
    await world.run((project) => project.purge({ text: 'The cookie is set twice' }))
    expect(readFileSync(path, 'utf8')).not.toContain('cookie')
    expect(await accept(world)).toMatchObject({
      outcome: 'mismatch',
      moved: expect.arrayContaining([expect.stringContaining('purge')]),
    })
  })

  test('reports a later one when an older number is requested', async () => {
    const world = await workingProject()
    await create(world)
    const second = await create(world)
    expect(await accept(world, { handoff: '1' })).toMatchObject({
      number: 1,
      notes: [expect.stringContaining('fix-auth/2')],
    })
    expect(await accept(world, { handoff: second.handoff.id.slice(-8) })).toMatchObject({
      number: 2,
    })
    await expect(accept(world, { handoff: '7' })).rejects.toMatchObject({ code: 'NO_HANDOFF' })
  })
})

describe('a handoff on another machine', () => {
  /** A clone of a shared project, after its sessions were committed. */
  async function clone(world: World): Promise<World> {
    world.git('add', '--all')
    world.git('commit', '--quiet', '-m', 'share the session')
    const location = join(scratchFolder(), 'clone')
    git(scratchFolder(), 'clone', '--quiet', world.root, location)
    agreeTo(location)
    return plainProject(location)
  }
  const shared = () => {
    const world = gitProject()
    world.write('.sessions/config.yaml', 'share: git\n')
    return workingProject(world)
  }

  test('loads when it came with the journal, though committing the journal moved HEAD', async () => {
    const world = await shared()
    const { handoff } = await create(world)
    const other = await clone(world)
    const accepted = await accept(other, { handoff: 'fix-auth' })
    expect(accepted).toMatchObject({ outcome: 'loaded', moved: [], text: handoff.document })
    expect(other.entries('handoff.accepted', world.sessionId())).toMatchObject([
      { outcome: 'loaded' },
    ])
  })

  test('is stale when uncommitted work stayed behind', async () => {
    const world = await shared()
    world.write('work.txt', 'half done\n')
    const { handoff } = await create(world)
    world.write('.gitignore', 'work.txt\n')
    rmSync(world.path('work.txt'))
    const other = await clone(world)
    const { outcome, moved } = await accept(other, { handoff: 'fix-auth' })
    expect(outcome).toBe('stale')
    expect(moved.join('\n')).toContain('gone: work.txt')
    expect(moved.join('\n')).toContain(`kept as ${handoff.code!.ref}, is not here`)
  })

  test('reports entries that arrived late from elsewhere', async () => {
    const world = await shared()
    const other = await clone(world)
    await note(other, 'Meanwhile, elsewhere')
    await create(world)
    const log = world.path('.sessions', 'journal', world.sessionId(), 'log.jsonl')
    const late = readFileSync(other.path('.sessions', 'journal', world.sessionId(), 'log.jsonl'))
    writeFileSync(log, Buffer.concat([readFileSync(log), late]))
    const { outcome, moved } = await accept(world)
    expect({ outcome, moved }).toEqual({
      outcome: 'stale',
      moved: [expect.stringContaining('came in from elsewhere')],
    })
  })

  test('is checked against its own hash when its journal is not here', async () => {
    const world = await workingProject()
    const { handoff } = await create(world)
    const location = join(scratchFolder(), 'bare')
    git(scratchFolder(), 'clone', '--quiet', world.root, location)
    const other = plainProject(location)
    other.write('got.md', handoff.document)
    const accepted = await accept(other, { handoff: 'got.md' })
    expect(accepted).toMatchObject({
      outcome: 'loaded',
      isTaken: true,
      text: handoff.document,
      session: { name: 'fix-auth' },
    })
    expect(accepted.bound).toBeUndefined()
    expect(accepted.notes).toEqual([expect.stringContaining('the journal of fix-auth is not here')])
    expect(other.names('.sessions')).toEqual([])
    other.write('got.md', handoff.document.replace('loop', 'leap'))
    expect(await accept(other, { handoff: 'got.md' })).toMatchObject({
      outcome: 'mismatch',
      isTaken: false,
    })
    other.write('got.md', handoff.document)
    initRepository(location)
    other.commit('moved', { 'b.txt': 'x' })
    expect(await accept(other, { handoff: 'got.md' })).toMatchObject({
      outcome: 'stale',
      isTaken: false,
    })
  })

  test('is stale without a journal when its uncommitted work is missing', async () => {
    const world = await workingProject()
    world.write('work.txt', 'half done\n')
    const { handoff } = await create(world)
    const location = join(scratchFolder(), 'bare')
    git(scratchFolder(), 'clone', '--quiet', world.root, location)
    const other = plainProject(location)
    other.write('got.md', handoff.document)
    const { outcome, moved } = await accept(other, { handoff: 'got.md' })
    expect({ outcome, moved }).toEqual({
      outcome: 'stale',
      moved: [expect.stringContaining('is not here')],
    })
  })

  test('is compared with the recorded text when its journal is here', async () => {
    const world = await workingProject()
    const { handoff } = await create(world)
    const elsewhere = join(scratchFolder(), 'copy.md')
    writeFileSync(elsewhere, handoff.document)
    expect(await accept(world, { handoff: elsewhere })).toMatchObject({
      outcome: 'loaded',
      bound: { name: 'fix-auth' },
    })
    writeFileSync(elsewhere, 'no handoff\n')
    await expect(accept(world, { handoff: elsewhere })).rejects.toMatchObject({
      code: 'NOT_A_HANDOFF',
    })
    await expect(accept(world, { handoff: 'nowhere.md' })).rejects.toMatchObject({
      code: 'NO_HANDOFF',
    })
  })

  test('keeps two handoffs that got the same number on two machines', async () => {
    const world = await shared()
    const other = await clone(world)
    const here = await create(world)
    const there = await create(other)
    const id = world.sessionId()
    const log = (of: World) => of.path('.sessions', 'journal', id, 'log.jsonl')
    writeFileSync(log(world), Buffer.concat([readFileSync(log(world)), readFileSync(log(other))]))
    await world.view()
    const { handoffs } = await world.run((project) => project.handoffs.list())
    expect(handoffs.map(({ number }) => number)).toEqual([1, 1])
    for (const { handoff } of [here, there]) {
      const shown = await world.run((project) =>
        project.handoffs.show({ handoff: `fix-auth/${handoff.id}` }),
      )
      expect(shown).toMatchObject({ file: 'intact' })
      expect(readFileSync(shown.path, 'utf8')).toBe(handoff.document)
    }
    await expect(
      world.run((project) => project.handoffs.show({ handoff: '1' })),
    ).rejects.toMatchObject({
      code: 'HANDOFF_AMBIGUOUS',
    })
  })
})

describe('a handoff for another task', () => {
  async function chain() {
    const world = gitProject()
    await world.run((project) => project.tasks.add({ title: 'Build it' }))
    await world.run((project) =>
      project.tasks.add({ title: 'Document it', dependsOn: ['build-it'] }),
    )
    await world.run((project) => project.init({ tasks: ['build-it'], name: 'build' }))
    const made = await create(world, { to: 'document-it', reason: 'The interface is settled' })
    return { world, made }
  }
  const waiting = (world: World) =>
    world.run(async (project) => {
      const task = await project.tasks.show('document-it')
      return project.handoffs.waiting({ tasks: [task.id] })
    })

  test('stays pending until it is accepted', async () => {
    const { world } = await chain()
    expect(await waiting(world)).toMatchObject([
      { name: 'build', number: 1, reason: 'The interface is settled' },
    ])
    await accept(world, { handoff: 'build/1' })
    expect(await waiting(world)).toEqual([])
  })

  test('outlives its session, and binds to the session that works on the task', async () => {
    const { world } = await chain()
    await world.run((project) => project.close({ how: 'completed' }))
    await world.run((project) => project.init({ tasks: ['document-it'], name: 'docs' }))
    const accepted = await accept(world, { handoff: 'build/1', force: true })
    expect(accepted.bound).toMatchObject({ name: 'docs' })
    expect(accepted.moved).toEqual([expect.stringContaining('was in_progress and is completed')])
  })

  test('is the default for the session that works on the task', async () => {
    const { world } = await chain()
    await world.run((project) => project.pause())
    await world.run((project) => project.init({ tasks: ['document-it'], name: 'docs' }))
    expect(await accept(world)).toMatchObject({
      number: 1,
      session: { name: 'build' },
      bound: { name: 'docs' },
    })
    await expect(accept(world)).rejects.toMatchObject({ code: 'NO_HANDOFF' })
  })

  test('is not pending after it was retracted', async () => {
    const { world, made } = await chain()
    await world.run((project) => project.log({ retract: [made.handoff.id] }))
    expect(await waiting(world)).toEqual([])
  })

  test('is still pending after the index was deleted', async () => {
    const { world } = await chain()
    rmSync(world.path('.sessions', 'index.db'))
    expect(await waiting(world)).toHaveLength(1)
  })
})

/** Appends entries as a hook would. */
function appendAs(
  world: World,
  session: string,
  entries: readonly { kind: string; data: Record<string, unknown> }[],
): void {
  const log = new Log({ path: world.path('.sessions', 'journal', session, 'log.jsonl') })
  log.append(entries.map((entry) => ({ ...entry, by: 'hook' })))
  log.close()
}
