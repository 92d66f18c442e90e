import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { decode } from '@toon-format/toon'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { StintError } from '../../src/library.ts'
import { EXPORT_FORMATS, type ExportFormat } from '../../src/document/export/collect-work.ts'
import { renderModel } from '../../src/document/render.ts'
import { modelOf } from '../../src/document/model.ts'
import { type World, gitProject, plainProject, plant } from '../support/project.ts'
import { scratchFolder } from '../support/scratch.ts'
import { sessionJsonProblems } from '../support/session-json-checker.ts'
import { SESSION_ID, sweepStory } from '../support/worlds.ts'

type ExportArguments = { session?: string; output?: string; force?: boolean }

const runExport = (world: World, format: ExportFormat, options: ExportArguments = {}) =>
  world.run((project) => project.export({ format, ...options }))

const codeOf = async (work: Promise<unknown>): Promise<string> => {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  return error instanceof StintError ? error.code : String(error)
}

/** A session in a git project, with this many steps. */
async function session(steps = 7, world = gitProject()): Promise<World> {
  await world.run((project) => project.init({ name: 'big', goal: 'Much to do' }))
  const entries = Array.from({ length: steps }, (_, n) => ({ step: `Step ${n}` }))
  if (steps > 0)
    await world.run((project) => project.log({ entries: [...entries, { file: 'src/a.ts' }] }))
  return world
}

describe('an export', () => {
  test('matches state.json as json and state.toon as toon', async () => {
    const world = await session()
    const folder = ['.sessions', 'journal', world.sessionId()] as const
    expect((await runExport(world, 'json')).content).toBe(world.read(...folder, 'state.json'))
    const { content } = await runExport(world, 'toon')
    expect(content).toBe(world.read(...folder, 'state.toon'))
    expect(decode(content.trimEnd())).toMatchObject({
      session: { name: 'big' },
      counts: { files: 1 },
    })
  })

  test('is the full document without its marker line as Markdown, archived or not', async () => {
    const world = await session()
    const shown = () => world.document().replace(/\n*<!-- stint: .*\n$/, '\n')
    expect((await runExport(world, 'markdown')).content).toBe(shown())
    await world.run((project) => project.close({ how: 'completed' }))
    expect(world.documentPath()).toContain('archive')
    expect((await runExport(world, 'markdown', { session: 'big' })).content).toBe(shown())
  })

  test('includes an edit of the document made just before', async () => {
    const world = await session()
    world.edit('- [ ] Step 3', '- [ ] Step three, reworded')
    expect((await runExport(world, 'session-json')).content).toContain('Step three, reworded')
  })

  test('works for an empty session in every format', async () => {
    const world = await session(0)
    for (const format of EXPORT_FORMATS)
      expect((await runExport(world, format)).content).toMatch(/\n$/)
    const value = JSON.parse((await runExport(world, 'session-json')).content) as object
    expect(sessionJsonProblems(value)).toEqual([])
    expect(value).toMatchObject({ tasks: [], complexity: 'simple', domain: 'fullstack' })
  })

  test('is complete for a session with thousands of entries', async () => {
    const story = sweepStory()
    for (let n = 0; n < 3000; n += 1) story.add('progress.made', { text: `Did thing ${n}` })
    for (let n = 0; n < 500; n += 1) story.add('file.changed', { path: `src/dir ${n}/file.ts` })
    const world = plainProject()
    plant(world, story)
    const of = { session: SESSION_ID }
    const state = JSON.parse((await runExport(world, 'json', of)).content) as {
      progress: { items: unknown[] }
    }
    expect(state.progress.items).toHaveLength(3000)
    expect((await runExport(world, 'markdown', of)).content).toBe(renderModel(modelOf(story.state)))
    const head = (await runExport(world, 'workflow-log', of)).content.split('\n---\n')[0]!
    expect((parse(head) as { files: { modified: unknown[] } }).files.modified).toHaveLength(500)
  })

  test('redacts by the current patterns', async () => {
    const world = await session()
    await world.run((project) =>
      project.log({
        entries: [{ discovery: 'The key is ACME-123456' }, { gotcha: 'ACME-123456 expires' }],
      }),
    )
    await world.run((project) => project.tasks.add({ title: 'Renew ACME-123456' }))
    world.write('.sessions/config.yaml', 'redact:\n  patterns: ["ACME-[0-9]{6}"]\n')
    for (const format of EXPORT_FORMATS) {
      expect((await runExport(world, format)).content).not.toContain('ACME-123456')
    }
    expect(world.messages.join('\n')).toContain('what looked like a secret was left out (custom)')
  })

  test('lists the formats when an unknown one is requested', async () => {
    const world = await session()
    const work = runExport(world, 'xml' as ExportFormat)
    await expect(work).rejects.toMatchObject({
      code: 'NO_FORMAT',
      hint: expect.stringContaining('session-json, workflow-log'),
    })
  })

  test('fails for an unknown session', async () => {
    expect(await codeOf(runExport(await session(), 'json', { session: 'nothing-like-it' }))).toBe(
      'NO_SESSION',
    )
  })
})

describe('an exported file', () => {
  test('overwrites its own unedited copy, and no other file', async () => {
    const world = await session()
    const { path } = await runExport(world, 'json', { output: 'my state.json' })
    expect(path).toBe(world.path('my state.json'))
    await world.run((project) => project.log({ entries: [{ progress: 'More' }] }))
    await runExport(world, 'json', { output: 'my state.json' })
    expect(world.read('my state.json')).toContain('"More"')
    // Another format may replace it too.
    await runExport(world, 'toon', { output: 'my state.json' })

    world.write('my state.json', 'mine')
    expect(await codeOf(runExport(world, 'json', { output: 'my state.json' }))).toBe(
      'EXPORT_EXISTS',
    )
    world.write('theirs.md', '# Theirs\n')
    expect(await codeOf(runExport(world, 'markdown', { output: 'theirs.md' }))).toBe(
      'EXPORT_EXISTS',
    )
    expect([world.read('my state.json'), world.read('theirs.md')]).toEqual(['mine', '# Theirs\n'])
    await runExport(world, 'markdown', { output: 'theirs.md', force: true })
    expect(world.read('theirs.md')).toContain('# Session: ')
    expect(world.names().filter((name) => name.endsWith('.tmp'))).toEqual([])
  })

  test('is replaced atomically, so a reader finishes the old file', async () => {
    const world = await session()
    for (const force of [false, true]) {
      const { content, path } = await runExport(world, 'json', { output: 'state.json', force })
      const reader = openSync(path!, 'r')
      await world.run((project) => project.log({ entries: [{ progress: 'More' }] }))
      await runExport(world, 'json', { output: 'state.json', force })
      expect(readFileSync(reader, 'utf8')).toBe(content)
      closeSync(reader)
      expect(world.read('state.json')).not.toBe(content)
    }
  })

  test('may create a folder inside the project, and nowhere else', async () => {
    const world = await session()
    await runExport(world, 'json', { output: 'out/of/here/state.json' })
    expect(existsSync(world.path('out/of/here/state.json'))).toBe(true)
    const elsewhere = scratchFolder()
    expect(
      await codeOf(runExport(world, 'json', { output: join(elsewhere, 'new', 'state.json') })),
    ).toBe('NO_FOLDER')
    symlinkSync(elsewhere, world.path('away'))
    expect(await codeOf(runExport(world, 'json', { output: 'away/new/state.json' }))).toBe(
      'NO_FOLDER',
    )
    expect(readdirSync(elsewhere)).toEqual([])
    await runExport(world, 'json', { output: join(elsewhere, 'state.json') })
    expect(readdirSync(elsewhere)).toEqual(['state.json'])
  })

  test("never overwrites a journal, a task or git's files, even with force", async () => {
    const world = await session()
    await world.run((project) => project.tasks.add({ title: 'A task' }))
    const before = world.read('.sessions', 'journal', world.sessionId(), 'log.jsonl')
    symlinkSync(world.path('.sessions'), world.path('link'))
    for (const output of [
      `.sessions/journal/${world.sessionId()}/log.jsonl`,
      'link/config.yaml',
      '.sessions/new.json',
      '.tasks/active/new.md',
      '.git/config',
      'src/../.git/hooks/pre-commit',
    ]) {
      expect(await codeOf(runExport(world, 'json', { output, force: true }))).toBe(
        'EXPORT_AMONG_JOURNALS',
      )
    }
    expect(world.read('.sessions', 'journal', world.sessionId(), 'log.jsonl')).toBe(before)
  })

  test('is never a folder, a device or a dangling link', async () => {
    const world = await session()
    mkdirSync(world.path('folder'))
    symlinkSync('nowhere', world.path('dangling'))
    for (const output of ['folder', 'folder/', 'new/', 'dangling', '/dev/null']) {
      expect(await codeOf(runExport(world, 'json', { output, force: true }))).toBe('EXPORT_NO_FILE')
    }
    expect(lstatSync('/dev/null').isCharacterDevice()).toBe(true)
    expect(readlinkSync(world.path('dangling'))).toBe('nowhere')
    expect(await codeOf(runExport(world, 'json', { output: 'a.txt/state.json' }))).toBe('NO_FOLDER')
    expect(await codeOf(runExport(world, 'json', { output: ' ' }))).toBe('EMPTY_TEXT')
  })

  test("is written to a symbolic link's target, and the link stays", async () => {
    const world = await session()
    world.write('real.json', '')
    symlinkSync('real.json', world.path('link.json'))
    expect(await codeOf(runExport(world, 'json', { output: 'link.json' }))).toBe('EXPORT_EXISTS')
    await runExport(world, 'json', { output: 'link.json', force: true })
    expect(lstatSync(world.path('link.json')).isSymbolicLink()).toBe(true)
    expect(world.read('real.json')).toContain('stint-state')
  })

  test('reports a failed write and leaves nothing behind', async () => {
    const world = await session()
    const name = 'x'.repeat(300)
    expect(await codeOf(runExport(world, 'json', { output: name }))).toBe('NOT_WRITTEN')
    // Folders that not even root may write to.
    for (const folder of ['/sys', '/proc'].filter((path) => existsSync(path))) {
      expect(
        await codeOf(runExport(world, 'json', { output: join(folder, 'stint-state.json') })),
      ).toBe('NOT_WRITTEN')
    }
    expect(world.names()).toEqual(['.git', '.sessions', 'a.txt'])
  })
})

describe('a session.json', () => {
  test('is printed for any session, and written from six tasks on or with force', async () => {
    const small = await session(5)
    expect(
      sessionJsonProblems(JSON.parse((await runExport(small, 'session-json')).content)),
    ).toEqual([])
    await expect(
      runExport(small, 'session-json', { output: 'session.json' }),
    ).rejects.toMatchObject({
      code: 'EXPORT_TOO_SMALL',
      message: expect.stringContaining('big has 5 tasks'),
    })
    expect(existsSync(small.path('session.json'))).toBe(false)
    await runExport(small, 'session-json', { output: 'session.json', force: true })
    const large = await session(6)
    await runExport(large, 'session-json', { output: 'session.json' })
    expect(JSON.parse(large.read('session.json'))).toMatchObject({ complexity: 'complex' })
  })

  test("lists the session's backlog tasks with sub-tasks, groups, times and files", async () => {
    const world = gitProject()
    const add = (title: string, more: object = {}) =>
      world.run((project) => project.tasks.add({ title, ...more }))
    const api = await add('Build the API', {
      group: 'first',
      checklist: [{ item: 'endpoint', done: true }],
    })
    const part = await add('Write the schema', { parent: api.id, assignee: 'architect' })
    const ui = await add('Build the page', { dependsOn: [api.id], group: 'first' })
    await add('Not of this session')
    await world.run((project) => project.init({ name: 'both', tasks: [api.id, ui.id] }))
    await world.run((project) => project.tasks.move(ui.id, 'blocked'))
    await world.run((project) => project.tasks.move(part.id, 'in_progress'))
    await world.run((project) => project.log({ entries: [{ file: 'api/schema.sql' }] }))
    await world.run((project) => project.tasks.move(part.id, 'completed'))
    const value = JSON.parse((await runExport(world, 'session-json')).content) as {
      tasks: { start_time: string; end_time: string }[]
    }
    expect(sessionJsonProblems(value)).toEqual([])
    expect(value).toMatchObject({
      tasks: [
        {
          id: api.id,
          status: 'working',
          assigned_to: 'code',
          checklist: [{ item: 'endpoint', done: true }],
        },
        {
          id: part.id,
          status: 'done',
          assigned_to: 'architect',
          parent_id: api.id,
          files: ['api/schema.sql'],
        },
        { id: ui.id, status: 'paused', dependencies: [api.id] },
      ],
      parallel_groups: [{ group_id: 'first', tasks: [api.id, ui.id], status: 'running' }],
    })
    expect(value.tasks[1]!.start_time <= value.tasks[1]!.end_time).toBe(true)
  })

  test('nests sub-tasks at any depth, and breaks parent cycles', async () => {
    const world = gitProject()
    const add = (title: string, more: object = {}) =>
      world.run((project) => project.tasks.add({ title, ...more }))
    const whole = await add('Whole')
    const part = await add('Part', { parent: whole.id })
    const piece = await add('Piece', { parent: part.id })
    const ticket = await add('Of a ticket kept elsewhere')
    world.write(
      `.tasks/active/${whole.shortname}-${whole.id}.md`,
      `---\nid: ${whole.id}\ntitle: Whole\nparent: ${piece.id}\n---\n`,
    )
    world.write(
      `.tasks/active/${ticket.shortname}-${ticket.id}.md`,
      `---\nid: ${ticket.id}\ntitle: Of it\nparent: TICKET-7\n---\n`,
    )
    await world.run((project) => project.init({ name: 'nested', tasks: [part.id, 'TICKET-7'] }))
    const value = JSON.parse((await runExport(world, 'session-json')).content) as {
      tasks: { id: string; parent_id: string }[]
    }
    expect(sessionJsonProblems(value)).toEqual([])
    const parents = new Map(value.tasks.map((task) => [task.id, task.parent_id]))
    expect([...parents.keys()]).toEqual([part.id, piece.id, whole.id, 'TICKET-7', ticket.id])
    expect(parents.get(ticket.id)).toBe('TICKET-7')
    expect([whole, part, piece].map(({ id }) => parents.get(id))).toEqual([null, whole.id, part.id])
  })

  test('lists agents that hooks saw start, and ignores paths from a foreign journal', async () => {
    const story = sweepStory()
    for (const conversation of ['c-1', '../../../outside']) {
      story.add('conversation.joined', { conversation, harness: 'claude', source: 'startup' })
    }
    const world = plainProject(join(scratchFolder(), 'project'))
    plant(world, story)
    const notes = (conversation: string, agent: string) =>
      JSON.stringify({ conversation, session: SESSION_ID, agents: { [agent]: 'look around' } })
    world.write('.sessions/conversations/c-1.json', notes('c-1', 'a-1'))
    world.write('../outside.json', notes('../../../outside', 'a-2'))
    const value = JSON.parse(
      (await runExport(world, 'session-json', { session: SESSION_ID })).content,
    ) as { delegates: unknown }
    expect(value.delegates).toEqual([
      {
        id: 'a-1',
        agent: 'agent',
        task_id: null,
        prompt: 'look around',
        status: 'running',
        result: null,
      },
    ])
  })

  test('is removed when its session closes, unless it was edited', async () => {
    const world = await session()
    await runExport(world, 'session-json', { output: 'session.json' })
    await runExport(world, 'session-json', { output: 'copy.json' })
    await runExport(world, 'json', { output: 'state.json' })
    world.write('copy.json', `${world.read('copy.json')} `)
    await world.run((project) => project.close({ how: 'completed' }))
    expect(
      ['session.json', 'copy.json', 'state.json'].map((name) => existsSync(world.path(name))),
    ).toEqual([false, true, true])
    expect(world.messages.join('\n')).toMatch(
      /session\.json was removed[\s\S]*copy\.json was changed since/,
    )
  })

  test('stays when another session closes, and goes when init closes its own', async () => {
    const world = await session()
    await runExport(world, 'session-json', { output: 'session.json' })
    world.git('switch', '-q', '-c', 'other')
    await world.run((project) => project.init({ name: 'other' }))
    await world.run((project) => project.close({ how: 'abandoned', session: 'other' }))
    expect(existsSync(world.path('session.json'))).toBe(true)
    world.git('switch', '-q', 'main')
    await world.run((project) => project.init({ name: 'next', force: true }))
    expect(existsSync(world.path('session.json'))).toBe(false)
  })
})

describe('a workflow log', () => {
  const logs = (world: World) => world.names('log', 'workflow')

  test('is not written unless configured', async () => {
    const world = await session()
    await world.run((project) => project.close({ how: 'completed' }))
    expect(existsSync(world.path('log'))).toBe(false)
    world.write('.sessions/config.yaml', 'workflow_log: off\n')
    await world.run((project) => project.reopen({ session: 'big' }))
    await world.run((project) => project.close({ how: 'completed' }))
    expect(existsSync(world.path('log'))).toBe(false)
  })

  test('is written once per close, named by time, and equals the export', async () => {
    const world = await session()
    world.write('.sessions/config.yaml', 'workflow_log: on\n')
    await world.run((project) => project.close({ how: 'completed', reason: 'done' }))
    const [first, ...others] = logs(world)
    expect([first, others]).toEqual([expect.stringMatching(/^\d{4}-\d\d-\d\d_\d{6}_big\.md$/), []])
    expect(world.read('log', 'workflow', first!)).toBe(
      (await runExport(world, 'workflow-log', { session: 'big' })).content,
    )
    expect(
      await codeOf(world.run((project) => project.close({ how: 'completed', session: 'big' }))),
    ).toBe('SESSION_CLOSED')
    expect(logs(world)).toHaveLength(1)
    await world.run((project) => project.reopen({ session: 'big' }))
    await world.run((project) => project.close({ how: 'completed' }))
    expect(logs(world)).toHaveLength(2)
    expect(readFileSync(world.path('log', 'workflow', first!), 'utf8')).toContain('completed: done')
  })

  test('goes to the configured folder of the current worktree', async () => {
    const world = await session(0)
    world.write('.sessions/config.yaml', 'workflow_log: notes/sessions\n')
    const beside = join(scratchFolder(), 'tree')
    world.git('worktree', 'add', '-q', beside, '-b', 'beside')
    await world.run((project) => project.init({ name: 'there' }), { cwd: beside })
    await world.run((project) => project.close({ how: 'completed', session: 'there' }), {
      cwd: beside,
    })
    expect(readdirSync(join(beside, 'notes', 'sessions'))).toHaveLength(1)
    expect(existsSync(world.path('notes'))).toBe(false)
  })

  test('that cannot be written is reported, and the session still closes', async () => {
    const world = await session()
    world.write('.sessions/config.yaml', 'workflow_log: on\n')
    writeFileSync(world.path('log'), 'a file')
    const { state } = await world.run((project) => project.close({ how: 'completed' }))
    expect(state.status).toBe('completed')
    expect(world.messages.join('\n')).toMatch(
      /the workflow log could not be written: .*log is not a folder/,
    )
    expect(world.read('log')).toBe('a file')
  })

  test('does not leave the project through a link', async () => {
    const world = await session()
    const elsewhere = scratchFolder()
    symlinkSync(elsewhere, world.path('log'))
    mkdirSync(join(elsewhere, 'workflow'))
    world.write('.sessions/config.yaml', 'workflow_log: on\n')
    await world.run((project) => project.close({ how: 'completed' }))
    expect(readdirSync(join(elsewhere, 'workflow'))).toEqual([])
    expect(world.messages.join('\n')).toContain('leads out of the project')
  })

  test.each([
    ['/etc', 'folder of the project'],
    ['../out', 'folder of the project'],
    ['a/../../out', 'folder of the project'],
    ['.git/hooks', 'must not be in .git'],
    ['.sessions/x', 'must not be in .sessions'],
    ['true', 'on, off or a folder'],
    ['""', 'on, off or a folder'],
  ])('into %s is a configuration error', async (folder, why) => {
    const world = await session(0)
    world.write('.sessions/config.yaml', `workflow_log: ${folder}\n`)
    await expect(world.view()).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining(why),
    })
  })
})

test('a purge also cleans exported files, and names an edited one', async () => {
  const world = await session()
  await world.run((project) => project.log({ entries: [{ discovery: 'tr0ub4dor opens it' }] }))
  await runExport(world, 'json', { output: 'state.json' })
  await runExport(world, 'markdown', { output: 'mine.md' })
  world.write('mine.md', `${world.read('mine.md')}\nand mine: tr0ub4dor\n`)
  const purged = await world.run((project) => project.purge({ text: 'tr0ub4dor' }))
  expect(world.read('state.json')).toContain('[purged] opens it')
  expect(purged.files.map(({ path }) => path)).toContain('state.json')
  expect(purged).toMatchObject({ remaining: ['mine.md'], isComplete: false })
  // An export may still overwrite it.
  await world.run((project) => project.log({ entries: [{ progress: 'More' }] }))
  await runExport(world, 'json', { output: 'state.json' })
})
