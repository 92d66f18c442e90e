import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { StintError } from '../../src/journal/errors.ts'
import { absorbTaskFiles } from '../../src/backlog/absorb-task-files.ts'
import { findTask } from '../../src/backlog/task.ts'
import { TaskFiles, idFromFile, taskFileName } from '../../src/backlog/task-files.ts'
import { scratchFolder } from '../support/scratch.ts'
import { MemoryJournal, backlogOf } from './world.ts'

class World {
  readonly files = new TaskFiles(join(scratchFolder(), '.tasks'))
  constructor(readonly journal: MemoryJournal) {}

  /** What a command does before and after its own work. */
  async sync() {
    const { backlog, absorbed, problems } = await absorbTaskFiles(
      this.files.read(),
      this.journal.entries,
      this.journal.append,
    )
    const asides = problems
      .filter((problem) => problem.needsQuarantine)
      .map((problem) => this.files.quarantine(problem.file))
    const writes = this.files.writeAll(backlog, absorbed)
    return { backlog, writes, asides, outcomes: writes.map((write) => write.outcome) }
  }

  list(place: string): readonly string[] {
    const folder = join(this.files.folder, place)
    return existsSync(folder) ? readdirSync(folder) : []
  }

  text(name: string): string {
    return readFileSync(join(this.files.folder, name), 'utf8')
  }

  save(name: string, text: string | Buffer): void {
    mkdirSync(join(this.files.folder, 'active'), { recursive: true })
    writeFileSync(join(this.files.folder, name), text)
  }

  edit(name: string, from: string, to: string): void {
    this.save(name, this.text(name).replace(from, to))
  }
}

test('a missing folder has no files', () => {
  expect(new TaskFiles(join(scratchFolder(), 'none')).read()).toEqual([])
})

test('open tasks are written to active/, completed ones to archive/', async () => {
  const world = new World(backlogOf('a', 'b completed', 'c failed'))
  expect((await world.sync()).outcomes).toEqual(['written', 'written', 'written'])
  expect(world.list('active')).toEqual(['a-a.md', 'c-c.md'])
  expect(world.list('archive')).toEqual(['b-b.md'])
})

test('an unchanged file is not written again', async () => {
  const world = new World(backlogOf('a', 'b'))
  await world.sync()
  const before = world.text('active/a-a.md')
  world.journal.log('task.changed', { task: 'b', priority: 'P0' })
  expect((await world.sync()).outcomes).toEqual(['unchanged', 'written'])
  expect(world.text('active/a-a.md')).toBe(before)
})

test('a file moves when its task is completed, and back when it is reopened', async () => {
  const world = new World(backlogOf('a'))
  await world.sync()
  world.edit('active/a-a.md', 'status: ready', 'status: completed')
  await world.sync()
  expect([world.list('active'), world.list('archive')]).toEqual([[], ['a-a.md']])
  world.journal.move('a', 'ready')
  await world.sync()
  expect([world.list('active'), world.list('archive')]).toEqual([['a-a.md'], []])
})

test('renaming a task leaves no file under the old name', async () => {
  const world = new World(backlogOf('a'))
  await world.sync()
  world.edit('active/a-a.md', 'shortname: a', 'shortname: better')
  await world.sync()
  expect(world.list('active')).toEqual(['better-a.md'])
})

test('deleted files are written again with the same bytes', async () => {
  const world = new World(backlogOf('a', 'b completed'))
  await world.sync()
  const before = world.text('active/a-a.md')
  rmSync(world.files.folder, { recursive: true })
  await world.sync()
  expect(world.text('active/a-a.md')).toBe(before)
})

test('a hand-written file is replaced by the file of its task', async () => {
  const world = new World(new MemoryJournal())
  world.save('active/todo.md', '# Buy milk\n\nTwo bottles.\n')
  const { backlog } = await world.sync()
  expect(backlog.tasks).toMatchObject([{ title: 'Buy milk', description: 'Two bottles.' }])
  expect(world.list('active')).toEqual([taskFileName(backlog.tasks[0]!)])
})

test('a copied task file becomes a task of its own once it is edited', async () => {
  const world = new World(backlogOf('a'))
  await world.sync()
  const pattern = world.text('active/a-a.md')
  world.save('active/a-a copy.md', pattern)
  await world.sync()
  expect(world.list('active')).toEqual(['a-a copy.md', 'a-a.md'])
  world.edit('active/a-a copy.md', 'Task a', 'Task of my own')
  const { backlog } = await world.sync()
  expect(backlog.tasks.map((task) => task.title)).toEqual(['Task a', 'Task of my own'])
  expect(world.text('active/a-a.md')).toBe(pattern)
  expect(world.list('active')).not.toContain('a-a copy.md')
})

test('a crash between writing the new file and removing the old one is repaired', async () => {
  const world = new World(backlogOf('a'))
  await world.sync()
  const old = world.text('active/a-a.md')
  world.journal.move('a', 'completed')
  await world.sync()
  world.save('active/a-a.md', old)
  const { backlog } = await world.sync()
  expect(backlog.tasks).toMatchObject([{ status: 'completed' }])
  expect([world.list('active'), world.list('archive')]).toEqual([[], ['a-a.md']])
})

test('an edit saved after absorbing is not overwritten before it is absorbed', async () => {
  const world = new World(backlogOf('a'))
  await world.sync()
  world.journal.move('a', 'blocked')
  world.edit('active/a-a.md', 'P2', 'P0')
  expect(world.files.writeAll(world.journal.backlog())).toMatchObject([{ outcome: 'edited' }])
  expect(world.text('active/a-a.md')).toContain('priority: P0')
  const { backlog } = await world.sync()
  expect(backlog.tasks).toMatchObject([{ priority: 'P0', status: 'blocked' }])
})

test('a file saved between reading and writing is not overwritten', async () => {
  const world = new World(backlogOf('a'))
  await world.sync()
  const files = world.files.read()
  world.journal.move('a', 'completed')
  world.edit('active/a-a.md', 'P2', 'P0')
  const backlog = world.journal.backlog()
  expect(world.files.write(backlog.tasks[0]!, backlog, [], files)).toMatchObject({
    outcome: 'edited',
  })
  expect(world.text('active/a-a.md')).toContain('priority: P0')
})

test('a file saved just before it is replaced is not overwritten', async () => {
  const world = new World(backlogOf('a'))
  await world.sync()
  world.journal.move('a', 'blocked')
  const backlog = world.journal.backlog()
  // Rendering is the step between the last check of the file and its replacement.
  const task = Object.defineProperty({ ...backlog.tasks[0]! }, 'title', {
    get() {
      world.save('active/a-a.md', world.text('active/a-a.md').replace('P2', 'P0'))
      return 'Task a'
    },
  })
  expect(world.files.write(task, backlog)).toMatchObject({ outcome: 'edited' })
  expect(world.text('active/a-a.md')).toContain('priority: P0')
  expect(world.list('active')).toEqual(['a-a.md'])
  expect((await world.sync()).backlog.tasks).toMatchObject([{ priority: 'P0', status: 'blocked' }])
})

test('a file created at the last moment is not overwritten', async () => {
  const world = new World(backlogOf('a'))
  const backlog = world.journal.backlog()
  const task = Object.defineProperty({ ...backlog.tasks[0]! }, 'title', {
    get: () => (world.save('active/a-a.md', '# Of my own\n'), 'Task a'),
  })
  expect(world.files.write(task, backlog, [], [])).toMatchObject({ outcome: 'edited' })
  expect(world.text('active/a-a.md')).toBe('# Of my own\n')
})

test('an edit in a file that a killed command had moved away is absorbed once by the next command', async () => {
  const world = new World(backlogOf('a', 'b'))
  await world.sync()
  world.edit('active/a-a.md', 'P2', 'P0')
  world.save('active/todo.md', '# Buy milk\n')
  const active = join(world.files.folder, 'active')
  for (const name of ['a-a.md', 'b-b.md', 'todo.md'])
    renameSync(join(active, name), join(active, `.taken-0123abcd-${name}`))
  const leftover = world.files.read().find((file) => file.name === 'todo.md')
  const { backlog } = await world.sync()
  expect(backlog.tasks).toMatchObject([
    { id: 'a', priority: 'P0' },
    { id: 'b' },
    { title: 'Buy milk', id: idFromFile(leftover!) },
  ])
  expect(world.list('active')).toEqual(backlog.tasks.map(taskFileName).toSorted())
  expect((await world.sync()).outcomes).toEqual(['unchanged', 'unchanged', 'unchanged'])
})

test('a file keeps its permissions when it is replaced', async () => {
  const world = new World(backlogOf('a'))
  await world.sync()
  chmodSync(join(world.files.folder, 'active/a-a.md'), 0o640)
  world.journal.move('a', 'blocked')
  expect((await world.sync()).outcomes).toEqual(['written'])
  expect(statSync(join(world.files.folder, 'active/a-a.md')).mode & 0o777).toBe(0o640)
})

test('a hand-written file with the longest possible name becomes a task', async () => {
  const world = new World(new MemoryJournal())
  world.save(`active/${'n'.repeat(252)}.md`, '# Buy milk\n')
  const { backlog } = await world.sync()
  expect(world.list('active')).toEqual(backlog.tasks.map(taskFileName))
})

test('a damaged file is quarantined byte for byte, and its task is written again', async () => {
  const world = new World(backlogOf('a', 'b'))
  await world.sync()
  const bytes = Buffer.from([0x2d, 0x2d, 0x2d, 0xff, 0xfe])
  world.save('active/a-a.md', bytes)
  world.edit('active/b-b.md', '---', '<<<<<<< HEAD\n---')
  const { asides, outcomes } = await world.sync()
  expect(asides).toHaveLength(2)
  expect(readFileSync(asides[0]!)).toEqual(bytes)
  expect(outcomes).toEqual(['written', 'written'])
  expect(world.list('active')).toEqual(['a-a.md', 'b-b.md'])
})

test('two files with one name quarantined at the same instant are both kept', () => {
  const world = new World(new MemoryJournal())
  const now = new Date('2026-01-15T10:00:00Z')
  world.save('active/x.md', 'one')
  const first = world.files.quarantine(world.files.read()[0]!, now)
  world.save('active/x.md', 'two')
  const second = world.files.quarantine(world.files.read()[0]!, now)
  expect([readFileSync(first, 'utf8'), readFileSync(second, 'utf8')]).toEqual(['one', 'two'])
})

test('the file of a retracted task is removed unless the user edited it', async () => {
  const world = new World(new MemoryJournal())
  const added = [world.journal.add('a'), world.journal.add('b')]
  await world.sync()
  world.edit('active/b-b.md', 'P2', 'P0')
  for (const entry of added) world.journal.log('entry.retracted', { entry })
  const { asides } = await world.sync()
  expect(world.list('active')).toEqual([])
  expect(readFileSync(asides[0]!, 'utf8')).toContain('priority: P0')
})

test('no id escapes the folder, and no two ids share a file', async () => {
  const ids = ['../../etc/passwd', '..', 'a/b', 'a-b', 'ü', 'x'.repeat(300)]
  const world = new World(backlogOf(...ids))
  const { writes } = await world.sync()
  expect(new Set(writes.map((write) => write.path)).size).toBe(ids.length)
  expect(world.list('active')).toHaveLength(ids.length)
  expect((await world.sync()).outcomes).toEqual(ids.map(() => 'unchanged'))
})

test('README files and files of other types are not tasks', () => {
  const world = new World(new MemoryJournal())
  for (const name of ['README.md', '.hidden.md', 'notes.txt']) world.save(`active/${name}`, 'x')
  mkdirSync(join(world.files.folder, 'active/folder.md'))
  expect(world.files.read()).toEqual([])
})

test('a new modification time without a change is not an edit', async () => {
  const world = new World(backlogOf('a'))
  await world.sync()
  utimesSync(join(world.files.folder, 'active/a-a.md'), new Date(), new Date())
  const count = world.journal.entries.length
  await world.sync()
  expect(world.journal.entries).toHaveLength(count)
})

const IDS = ['019b7000-aaaa-7000-8000-0000deadbeef', '019b7000-bbbb-7000-8000-0000cafebabe']

function named(): MemoryJournal {
  const journal = new MemoryJournal()
  journal.log('task.added', { task: IDS[0]!, title: 'Fix login' })
  journal.log('task.added', { task: IDS[1]!, title: 'Fix logout' })
  return journal
}

test.each([[IDS[0]!], ['deadbeef'], ['fix-login'], [`fix-login-${IDS[0]}.md`]])(
  'a task is found by %s',
  (reference) => {
    expect(findTask(named().backlog().tasks, reference).id).toBe(IDS[0])
  },
)

test('a reference to several tasks is refused and names all of them', () => {
  const search = () => findTask(named().backlog().tasks, '019b7000')
  expect(search).toThrow(StintError)
  expect(search).toThrow(
    `"019b7000" may mean any of 2 tasks:\n  ${IDS[0]}  fix-login  (ready) Fix login\n  ${IDS[1]}  fix-logout`,
  )
})

test('an unknown reference is refused, and two letters of an id match nothing', () => {
  for (const reference of ['nothing', 'be', '']) {
    expect(() => findTask(named().backlog().tasks, reference)).toThrow('there is no task')
  }
})
