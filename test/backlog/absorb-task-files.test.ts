import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { type TaskEdits, absorbTaskFiles, taskEdits } from '../../src/backlog/absorb-task-files.ts'
import { backlogAt } from '../../src/backlog/backlog.ts'
import { idFromFile } from '../../src/backlog/task-files.ts'
import { taskIdIn, taskFileMarker, renderTaskFile } from '../../src/backlog/task-file-format.ts'
import { aBacklog, aChecklist, aLine, aPassage, aStatus, someFields } from './any-task.ts'
import { Told, backlogOf, fileOf } from './world.ts'
import { cases } from '../support/cases.ts'

function rendered(told: Told, id = 'it'): string {
  return renderTaskFile(told.task(id), told.backlog())
}

/** What a caller does with one file: fold at its marker, read the edits, append them. */
async function absorb(told: Told, text: string): Promise<TaskEdits> {
  const marker = taskFileMarker(text)
  const base = marker && backlogAt(told.entries, marker.lastId).byId.get(taskIdIn(text) ?? '')
  const edits = await taskEdits(text, base, { backlog: told.backlog(), mintId: () => 'minted' })
  told.append(edits.drafts)
  return edits
}

function kinds(edits: TaskEdits): readonly string[] {
  return edits.drafts.map((draft) => draft.kind)
}

test('an unedited file adds no entries, whatever happened to its task since', async () => {
  await fc.assert(
    fc.asyncProperty(aBacklog, someFields, aStatus, async (told, fields, status) => {
      const text = rendered(told)
      told.tell('task.changed', { task: 'it', ...fields })
      told.move('it', status)
      expect(await absorb(told, text)).toEqual({ task: 'it', drafts: [], problems: [] })
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
function edited(told: Told, edit: Readonly<Record<string, unknown>>): string {
  const other = new Told()
  other.append(told.entries.map(({ kind, data, by }) => ({ kind, data, by }) as never))
  const { status, ...fields } = edit
  other.tell('task.changed', { task: 'it', ...fields } as never)
  if (status !== undefined) other.move('it', status as 'ready')
  // With the marker of the edited file, which a person does not change.
  const marker = /<!-- stint: task .*\n$/.exec(rendered(told))![0]
  return rendered(other).replace(/<!-- stint: task .*\n$/, marker)
}

test('an edit is absorbed once, however often the file is read', async () => {
  await fc.assert(
    fc.asyncProperty(aBacklog, anEdit, async (told, edit) => {
      const text = edited(told, edit)
      const wanted = new Told()
      wanted.append(told.entries.map(({ kind, data, by }) => ({ kind, data, by }) as never))
      const { status, ...fields } = edit
      wanted.tell('task.changed', { task: 'it', ...fields })
      wanted.move('it', status)
      await absorb(told, text)
      const { updatedAt: _now, summary: _none, labels, ...task } = told.task('it')
      const {
        updatedAt: _then,
        summary: _nor,
        labels: wantedLabels,
        ...expected
      } = wanted.task('it')
      expect(task).toEqual(expected)
      expect(labels.toSorted()).toEqual(wantedLabels.toSorted())
      expect((await absorb(told, text)).drafts).toEqual([])
    }),
    { numRuns: cases(200) },
  )
})

test('an edit of an outdated file reverts no other field', async () => {
  await fc.assert(
    fc.asyncProperty(aBacklog, someFields, aLine, async (told, newer, group) => {
      const text = edited(told, { group })
      const { group: _group, ...since } = newer
      told.tell('task.changed', { task: 'it', ...since })
      const before = told.task('it')
      await absorb(told, text)
      const { updatedAt: _now, group: written, ...after } = told.task('it')
      const { updatedAt: _then, group: _before, ...expected } = before
      expect(after).toEqual(expected)
      expect(written).toBe(backlogOfGroup(group))
    }),
    { numRuns: cases(200) },
  )
})

function backlogOfGroup(group: string): string | undefined {
  const told = new Told()
  told.add('x', { group })
  return told.task('x').group
}

test('a changed field, a new status and a ticked box become one entry each', async () => {
  const told = new Told()
  told.add('it', { checklist: [{ item: 'one', done: false }] })
  const text = rendered(told)
    .replace('P2', 'P0')
    .replace('status: ready', 'status: blocked')
    .replace('[ ] one', '[x] one')
  const { drafts } = await absorb(told, text)
  expect(drafts.map(({ kind, data, by }) => ({ kind, data, by }))).toEqual([
    { kind: 'task.changed', data: { task: 'it', priority: 'P0' }, by: 'document' },
    { kind: 'task.checked', data: { task: 'it', item: 'one', done: true }, by: 'document' },
    { kind: 'task.moved', data: { task: 'it', status: 'blocked' }, by: 'document' },
  ])
})

test('a deleted line clears its field', async () => {
  const told = new Told()
  told.add('it', { assignee: 'bob', labels: ['x'] })
  await absorb(told, rendered(told).replace('assignee: bob\n', '').replace('tags: [x]\n', ''))
  expect(told.task('it')).not.toHaveProperty('assignee')
  expect(told.task('it').labels).toEqual([])
})

test('labels and checklist items added on both sides are all kept', async () => {
  const told = new Told()
  told.add('it', { labels: ['a', 'b'], checklist: [{ item: 'one', done: false }] })
  const text = rendered(told)
    .replace('[a, b]', '[b, mine]')
    .replace('- [ ] one', '- [ ] zero\n- [ ] one\n- [x] two')
  told.tell('task.changed', {
    task: 'it',
    labels: ['a', 'b', 'theirs'],
    checklist: [
      { item: 'one', done: true },
      { item: 'three', done: false },
    ],
  })
  await absorb(told, text)
  expect(told.task('it').labels).toEqual(['b', 'theirs', 'mine'])
  expect(told.task('it').checklist.map(({ item, done }) => `${item} ${done}`)).toEqual([
    'zero false',
    'one true',
    'two true',
    'three false',
  ])
})

test('a checklist item added on both sides stays ticked', async () => {
  const told = new Told()
  told.add('it', { checklist: [{ item: 'one', done: false }] })
  const text = rendered(told).replace('- [ ] one', '- [ ] one\n- [ ] two')
  await absorb(told, text)
  told.tell('task.checked', { task: 'it', item: 'two', done: true })
  expect((await absorb(told, text)).drafts).toEqual([])
})

test('an unedited file does not revert an entry that arrives late from another machine', async () => {
  const told = new Told()
  told.add('it', { title: 'Old' })
  const late = told.tell('task.changed', { task: 'it', title: 'Theirs' })
  told.tell('task.changed', { task: 'it', priority: 'P0' })
  const here = told.entries.filter((entry) => entry.id !== late)
  const backlog = backlogAt(here, told.backlog().lastId)
  await absorb(told, renderTaskFile(backlog.byId.get('it')!, backlog))
  expect(told.task('it').title).toBe('Theirs')
})

test('one of two checklist items with the same text can be ticked', async () => {
  const told = new Told()
  const twice = { item: 'again', done: false }
  told.add('it', { checklist: [twice, twice] })
  const edits = await absorb(told, rendered(told).replace('[ ] again', '[x] again'))
  expect(kinds(edits)).toEqual(['task.changed'])
  expect(told.task('it').checklist.map(({ done }) => done)).toEqual([true, false])
})

test("a field changed on both sides takes the file's value and is reported", async () => {
  const told = new Told()
  told.add('it', { title: 'Old' })
  const text = rendered(told).replace('title: Old', 'title: Mine')
  told.tell('task.changed', { task: 'it', title: 'Theirs' })
  const { problems } = await absorb(told, text)
  expect(told.task('it').title).toBe('Mine')
  expect(problems).toEqual([
    {
      message:
        "title was changed elsewhere too; the file's is taken, the other stays in the journal",
      needsQuarantine: false,
    },
  ])
})

test('sections and keys that a person added are kept where they are', async () => {
  const told = new Told()
  told.add('it', {
    description: 'Text.',
    details: 'More.',
    checklist: [{ item: 'one', done: false }],
  })
  const text = rendered(told)
    .replace('Text.', 'Text.\n\n## Why\n\nBecause A.')
    .replace('- [ ] one', '- [ ] one\n\n## Not now\n\n- because B')
    .replace('size: M', 'size: M # because C\nestimate: 3 days')
    .concat('\n## Afterword\n\nBecause D.\n')
  await absorb(told, text)
  const again = rendered(told)
  for (const kept of [
    '## Why\n\nBecause A.',
    '## Not now\n\n- because B',
    'because C',
    'estimate: 3 days',
    '## Afterword\n\nBecause D.',
  ]) {
    expect(again).toContain(kept)
  }
  expect(told.task('it').checklist).toEqual([{ item: 'one', done: false }])
  expect((await absorb(told, text)).drafts).toEqual([])
  expect((await absorb(told, again)).drafts).toEqual([])
})

test('a file without its marker is compared with the current task', async () => {
  const told = new Told()
  told.add('it', { title: 'Old' })
  const text = rendered(told)
    .replace(/<!-- stint.*\n/, '')
    .replace('title: Old', 'title: New')
  expect(kinds(await absorb(told, text))).toEqual(['task.changed'])
  expect(told.task('it').title).toBe('New')
})

test('a hand-written file becomes a task with the status it names', async () => {
  const told = backlogOf('t1')
  const text =
    '---\ntitle: Write it down\nstatus: doing\nblocked_by: [t1]\ncreated_at: 2025-10-01\n---\n## Acceptance Criteria\n- [x] begun\n'
  expect(kinds(await absorb(told, text))).toEqual(['task.added', 'task.moved'])
  expect(told.task('minted')).toMatchObject({
    title: 'Write it down',
    shortname: 'write-it-down',
    status: 'in_progress',
    dependsOn: ['t1'],
    createdAt: '2025-10-01',
    checklist: [{ item: 'begun', done: true }],
  })
  expect((await absorb(told, text)).drafts).toEqual([])
})

test('a file with an unknown id becomes a task with that id', async () => {
  const told = new Told()
  await absorb(told, '---\nid: T-42\ntitle: From elsewhere\n---\n')
  expect(told.task('T-42').title).toBe('From elsewhere')
})

test('a rendered file restores its task when the journal was lost', async () => {
  await fc.assert(
    fc.asyncProperty(aBacklog, async (told) => {
      const text = rendered(told)
      const other = new Told()
      other.tell('task.added', {
        task: 'other',
        title: told.task('other').title,
        dependsOn: ['it'],
      })
      await absorb(other, text)
      const { updatedAt: _now, summary: _none, ...task } = other.task('it')
      const { updatedAt: _then, summary: _nor, ...expected } = told.task('it')
      expect(task).toEqual(expected)
    }),
  )
})

test('an edit of blocks changes the dependencies of the other tasks', async () => {
  const told = backlogOf('it', 'a <it', 'b')
  const { problems } = await absorb(told, rendered(told).replace('blocks: [a]', 'blocks: [b, t9]'))
  expect(told.task('a').dependsOn).toEqual([])
  expect(told.task('b').dependsOn).toEqual(['it'])
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
  const told = backlogOf('it')
  const { drafts, problems } = await absorb(told, damage(rendered(told)))
  expect(drafts).toEqual([])
  expect(problems).toMatchObject([{ needsQuarantine: true }])
})

test('an edit of a retracted task is quarantined', async () => {
  const told = new Told()
  const added = told.add('it')
  const text = rendered(told)
  told.tell('entry.retracted', { entry: added })
  expect((await absorb(told, text)).problems).toEqual([])
  const { drafts, problems } = await absorb(told, text.replace('P2', 'P0'))
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
      const told = backlogOf('it', 'other')
      const text = pieces.join('')
      await absorb(told, text)
      expect((await absorb(told, text)).drafts).toEqual([])
    }),
    { numRuns: cases(300) },
  )
})

test('edits in two files of one task are both absorbed', async () => {
  const told = backlogOf('a', 'b', 'c')
  const blocks = (id: string) =>
    fileOf(rendered(told, id).replace('created_at', 'blocks: [c]\ncreated_at'), `${id}-${id}.md`)
  const files = [blocks('a'), blocks('b')].map((file, index) => ({ ...file, id: 'ab'[index]! }))
  const { backlog, absorbed } = await absorbTaskFiles(files, told.entries, told.append)
  expect(backlog.byId.get('c')!.dependsOn).toEqual(['a', 'b'])
  expect(absorbed.map(({ task }) => task)).toEqual(['a', 'b'])
})

test('a hand-written file absorbed again after a crash is one task', async () => {
  const told = new Told()
  const file = fileOf('# Buy milk\n')
  await absorbTaskFiles([file], [...told.entries], told.append)
  const { backlog, absorbed } = await absorbTaskFiles([file], [...told.entries], told.append)
  expect(backlog.tasks).toHaveLength(1)
  expect(absorbed.map(({ task }) => task)).toEqual([idFromFile(file)])
})
