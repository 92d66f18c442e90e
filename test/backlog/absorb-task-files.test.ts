import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { type TaskEdits, absorbTaskFiles, taskEdits } from '../../src/backlog/absorb-task-files.ts'
import { backlogAt } from '../../src/backlog/backlog.ts'
import { idFromFile } from '../../src/backlog/task-files.ts'
import { taskIdIn, taskFileMarker, renderTaskFile } from '../../src/backlog/task-file-format.ts'
import { aBacklog, aChecklist, aLine, aPassage, aStatus, someFields } from './any-task.ts'
import { MemoryJournal, backlogOf, fileOf } from './world.ts'
import { cases } from '../support/cases.ts'

function rendered(journal: MemoryJournal, id = 'it'): string {
  return renderTaskFile(journal.task(id), journal.backlog())
}

/** What a caller does with one file: fold at its marker, read the edits, append them. */
async function absorb(journal: MemoryJournal, text: string): Promise<TaskEdits> {
  const marker = taskFileMarker(text)
  const base = marker && backlogAt(journal.entries, marker.lastId).byId.get(taskIdIn(text) ?? '')
  const edits = await taskEdits(text, base, { backlog: journal.backlog(), mintId: () => 'minted' })
  journal.append(edits.drafts)
  return edits
}

function kinds(edits: TaskEdits): readonly string[] {
  return edits.drafts.map((draft) => draft.kind)
}

test('an unedited file adds no entries, even if its task changed since', async () => {
  await fc.assert(
    fc.asyncProperty(aBacklog, someFields, aStatus, async (journal, fields, status) => {
      const text = rendered(journal)
      journal.log('task.changed', { task: 'it', ...fields })
      journal.move('it', status)
      expect(await absorb(journal, text)).toEqual({ task: 'it', drafts: [], problems: [] })
    }),
  )
})

const anEdit = fc.record({
  title: aLine,
  description: aPassage,
  details: aPassage,
  checklist: aChecklist,
  labels: fc.array(aLine, { maxLength: 3 }),
  group: aLine,
  status: aStatus,
})

/** The file after a person's edit, rendered from a backlog with the same change. */
function edited(journal: MemoryJournal, edit: Readonly<Record<string, unknown>>): string {
  const other = new MemoryJournal()
  other.append(journal.entries.map(({ kind, data, by }) => ({ kind, data, by }) as never))
  const { status, ...fields } = edit
  other.log('task.changed', { task: 'it', ...fields } as never)
  if (status !== undefined) other.move('it', status as 'ready')
  // With the marker of the edited file, which a person does not change.
  const marker = /<!-- stint: task .*\n$/.exec(rendered(journal))![0]
  return rendered(other).replace(/<!-- stint: task .*\n$/, marker)
}

test('an edit is absorbed once, however often the file is read', async () => {
  await fc.assert(
    fc.asyncProperty(aBacklog, anEdit, async (journal, edit) => {
      const text = edited(journal, edit)
      const wanted = new MemoryJournal()
      wanted.append(journal.entries.map(({ kind, data, by }) => ({ kind, data, by }) as never))
      const { status, ...fields } = edit
      wanted.log('task.changed', { task: 'it', ...fields })
      wanted.move('it', status)
      await absorb(journal, text)
      const { updatedAt: _now, summary: _none, labels, ...task } = journal.task('it')
      const {
        updatedAt: _then,
        summary: _nor,
        labels: wantedLabels,
        ...expected
      } = wanted.task('it')
      expect(task).toEqual(expected)
      expect(labels.toSorted()).toEqual(wantedLabels.toSorted())
      expect((await absorb(journal, text)).drafts).toEqual([])
    }),
    { numRuns: cases(200) },
  )
})

test('an edit of an outdated file reverts no other field', async () => {
  await fc.assert(
    fc.asyncProperty(aBacklog, someFields, aLine, async (journal, newer, group) => {
      const text = edited(journal, { group })
      const { group: _group, ...since } = newer
      journal.log('task.changed', { task: 'it', ...since })
      const before = journal.task('it')
      await absorb(journal, text)
      const { updatedAt: _now, group: written, ...after } = journal.task('it')
      const { updatedAt: _then, group: _before, ...expected } = before
      expect(after).toEqual(expected)
      expect(written).toBe(backlogOfGroup(group))
    }),
    { numRuns: cases(200) },
  )
})

function backlogOfGroup(group: string): string | undefined {
  const journal = new MemoryJournal()
  journal.add('x', { group })
  return journal.task('x').group
}

test('a changed field, a new status and a ticked box become one entry each', async () => {
  const journal = new MemoryJournal()
  journal.add('it', { checklist: [{ item: 'one', done: false }] })
  const text = rendered(journal)
    .replace('P2', 'P0')
    .replace('status: ready', 'status: blocked')
    .replace('[ ] one', '[x] one')
  const { drafts } = await absorb(journal, text)
  expect(drafts.map(({ kind, data, by }) => ({ kind, data, by }))).toEqual([
    { kind: 'task.changed', data: { task: 'it', priority: 'P0' }, by: 'document' },
    { kind: 'task.checked', data: { task: 'it', item: 'one', done: true }, by: 'document' },
    { kind: 'task.moved', data: { task: 'it', status: 'blocked' }, by: 'document' },
  ])
})

test('a deleted line clears its field', async () => {
  const journal = new MemoryJournal()
  journal.add('it', { assignee: 'bob', labels: ['x'] })
  await absorb(journal, rendered(journal).replace('assignee: bob\n', '').replace('tags: [x]\n', ''))
  expect(journal.task('it')).not.toHaveProperty('assignee')
  expect(journal.task('it').labels).toEqual([])
})

test('labels and checklist items added on both sides are all kept', async () => {
  const journal = new MemoryJournal()
  journal.add('it', { labels: ['a', 'b'], checklist: [{ item: 'one', done: false }] })
  const text = rendered(journal)
    .replace('[a, b]', '[b, mine]')
    .replace('- [ ] one', '- [ ] zero\n- [ ] one\n- [x] two')
  journal.log('task.changed', {
    task: 'it',
    labels: ['a', 'b', 'theirs'],
    checklist: [
      { item: 'one', done: true },
      { item: 'three', done: false },
    ],
  })
  await absorb(journal, text)
  expect(journal.task('it').labels).toEqual(['b', 'theirs', 'mine'])
  expect(journal.task('it').checklist.map(({ item, done }) => `${item} ${done}`)).toEqual([
    'zero false',
    'one true',
    'two true',
    'three false',
  ])
})

test('a checklist item added on both sides stays ticked', async () => {
  const journal = new MemoryJournal()
  journal.add('it', { checklist: [{ item: 'one', done: false }] })
  const text = rendered(journal).replace('- [ ] one', '- [ ] one\n- [ ] two')
  await absorb(journal, text)
  journal.log('task.checked', { task: 'it', item: 'two', done: true })
  expect((await absorb(journal, text)).drafts).toEqual([])
})

test('an unedited file does not revert an entry that arrives late from another machine', async () => {
  const journal = new MemoryJournal()
  journal.add('it', { title: 'Old' })
  const late = journal.log('task.changed', { task: 'it', title: 'Theirs' })
  journal.log('task.changed', { task: 'it', priority: 'P0' })
  const here = journal.entries.filter((entry) => entry.id !== late)
  const backlog = backlogAt(here, journal.backlog().lastId)
  await absorb(journal, renderTaskFile(backlog.byId.get('it')!, backlog))
  expect(journal.task('it').title).toBe('Theirs')
})

test('one of two checklist items with the same text can be ticked', async () => {
  const journal = new MemoryJournal()
  const twice = { item: 'again', done: false }
  journal.add('it', { checklist: [twice, twice] })
  const edits = await absorb(journal, rendered(journal).replace('[ ] again', '[x] again'))
  expect(kinds(edits)).toEqual(['task.changed'])
  expect(journal.task('it').checklist.map(({ done }) => done)).toEqual([true, false])
})

test("a field changed on both sides takes the file's value and is reported", async () => {
  const journal = new MemoryJournal()
  journal.add('it', { title: 'Old' })
  const text = rendered(journal).replace('title: Old', 'title: Mine')
  journal.log('task.changed', { task: 'it', title: 'Theirs' })
  const { problems } = await absorb(journal, text)
  expect(journal.task('it').title).toBe('Mine')
  expect(problems).toEqual([
    {
      message:
        "title was changed elsewhere too; the file's is taken, the other stays in the journal",
      needsQuarantine: false,
    },
  ])
})

test('sections and keys that a user added keep their place', async () => {
  const journal = new MemoryJournal()
  journal.add('it', {
    description: 'Text.',
    details: 'More.',
    checklist: [{ item: 'one', done: false }],
  })
  const text = rendered(journal)
    .replace('Text.', 'Text.\n\n## Why\n\nBecause A.')
    .replace('- [ ] one', '- [ ] one\n\n## Not now\n\n- because B')
    .replace('size: M', 'size: M # because C\nestimate: 3 days')
    .concat('\n## Afterword\n\nBecause D.\n')
  await absorb(journal, text)
  const again = rendered(journal)
  for (const kept of [
    '## Why\n\nBecause A.',
    '## Not now\n\n- because B',
    'because C',
    'estimate: 3 days',
    '## Afterword\n\nBecause D.',
  ]) {
    expect(again).toContain(kept)
  }
  expect(journal.task('it').checklist).toEqual([{ item: 'one', done: false }])
  expect((await absorb(journal, text)).drafts).toEqual([])
  expect((await absorb(journal, again)).drafts).toEqual([])
})

test('a file without its marker is compared with the current task', async () => {
  const journal = new MemoryJournal()
  journal.add('it', { title: 'Old' })
  const text = rendered(journal)
    .replace(/<!-- stint.*\n/, '')
    .replace('title: Old', 'title: New')
  expect(kinds(await absorb(journal, text))).toEqual(['task.changed'])
  expect(journal.task('it').title).toBe('New')
})

test('a hand-written file becomes a task with the status it names', async () => {
  const journal = backlogOf('t1')
  const text =
    '---\ntitle: Write it down\nstatus: doing\nblocked_by: [t1]\ncreated_at: 2025-10-01\n---\n## Acceptance Criteria\n- [x] begun\n'
  expect(kinds(await absorb(journal, text))).toEqual(['task.added', 'task.moved'])
  expect(journal.task('minted')).toMatchObject({
    title: 'Write it down',
    shortname: 'write-it-down',
    status: 'in_progress',
    dependsOn: ['t1'],
    createdAt: '2025-10-01',
    checklist: [{ item: 'begun', done: true }],
  })
  expect((await absorb(journal, text)).drafts).toEqual([])
})

test('a file with an unknown id becomes a task with that id', async () => {
  const journal = new MemoryJournal()
  await absorb(journal, '---\nid: T-42\ntitle: From elsewhere\n---\n')
  expect(journal.task('T-42').title).toBe('From elsewhere')
})

test('a rendered file restores its task when the journal was lost', async () => {
  await fc.assert(
    fc.asyncProperty(aBacklog, async (journal) => {
      const text = rendered(journal)
      const other = new MemoryJournal()
      other.log('task.added', {
        task: 'other',
        title: journal.task('other').title,
        dependsOn: ['it'],
      })
      await absorb(other, text)
      const { updatedAt: _now, summary: _none, ...task } = other.task('it')
      const { updatedAt: _then, summary: _nor, ...expected } = journal.task('it')
      expect(task).toEqual(expected)
    }),
  )
})

test('an edit of blocks changes the dependencies of the other tasks', async () => {
  const journal = backlogOf('it', 'a <it', 'b')
  const { problems } = await absorb(
    journal,
    rendered(journal).replace('blocks: [a]', 'blocks: [b, t9]'),
  )
  expect(journal.task('a').dependsOn).toEqual([])
  expect(journal.task('b').dependsOn).toEqual(['it'])
  expect(problems.map(({ message }) => message)).toEqual([
    'blocks: there is no task t9; say blocked_by in its file',
  ])
})

test.each([
  ['broken YAML', (text: string) => text.replace('title:', 'title: [')],
  [
    'conflict markers',
    (text: string) => text.replace('## Description', '<<<<<<< HEAD\n## Description'),
  ],
  ['no content', () => ''],
])('a file with %s is quarantined and changes nothing', async (_case, damage) => {
  const journal = backlogOf('it')
  const { drafts, problems } = await absorb(journal, damage(rendered(journal)))
  expect(drafts).toEqual([])
  expect(problems).toMatchObject([{ needsQuarantine: true }])
})

test('an edit of a retracted task is quarantined', async () => {
  const journal = new MemoryJournal()
  const added = journal.add('it')
  const text = rendered(journal)
  journal.log('entry.retracted', { entry: added })
  expect((await absorb(journal, text)).problems).toEqual([])
  const { drafts, problems } = await absorb(journal, text.replace('P2', 'P0'))
  expect(drafts).toEqual([])
  expect(problems).toMatchObject([{ needsQuarantine: true }])
})

test('any text is absorbed or refused without throwing', async () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '---\n',
      'id: it\n',
      'blocks: [it]\n',
      'status: done\n',
      '## Description\n',
      '- [x] y\n',
    ),
    fc.string(),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 10 }), async (pieces) => {
      const journal = backlogOf('it', 'other')
      const text = pieces.join('')
      await absorb(journal, text)
      expect((await absorb(journal, text)).drafts).toEqual([])
    }),
    { numRuns: cases(300) },
  )
})

test('edits in two files of one task are both absorbed', async () => {
  const journal = backlogOf('a', 'b', 'c')
  const blocks = (id: string) =>
    fileOf(rendered(journal, id).replace('created_at', 'blocks: [c]\ncreated_at'), `${id}-${id}.md`)
  const files = [blocks('a'), blocks('b')].map((file, index) => ({ ...file, id: 'ab'[index]! }))
  const { backlog, absorbed } = await absorbTaskFiles(files, journal.entries, journal.append)
  expect(backlog.byId.get('c')!.dependsOn).toEqual(['a', 'b'])
  expect(absorbed.map(({ task }) => task)).toEqual(['a', 'b'])
})

test('a hand-written file absorbed again after a crash is one task', async () => {
  const journal = new MemoryJournal()
  const file = fileOf('# Buy milk\n')
  await absorbTaskFiles([file], [...journal.entries], journal.append)
  const { backlog, absorbed } = await absorbTaskFiles([file], [...journal.entries], journal.append)
  expect(backlog.tasks).toHaveLength(1)
  expect(absorbed.map(({ task }) => task)).toEqual([idFromFile(file)])
})

test('hand-written files are absorbed with one append, however many there are', async () => {
  const journal = new MemoryJournal()
  const files = Array.from({ length: 300 }, (_, number) => {
    const head = number === 0 ? '' : `blocked_by: [task-${number - 1}]\nblocks: [task-0]\n`
    return fileOf(`---\ntitle: Task ${number}\n${head}---\n`, `${number}.md`)
  })
  let appends = 0
  const { backlog } = await absorbTaskFiles(files, [], (drafts) => {
    appends += 1
    return journal.append(drafts)
  })
  expect(appends).toBe(1)
  const idOf = new Map(backlog.tasks.map(({ shortname, id }) => [shortname, id]))
  expect(backlog.byId.get(idOf.get('task-299')!)!.dependsOn).toEqual([idOf.get('task-298')])
  expect(backlog.byId.get(idOf.get('task-0')!)!.dependsOn).toHaveLength(299)
})
