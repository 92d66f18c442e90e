import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseTaskFile } from '../../src/backlog/parse-task-file.ts'
import {
  taskIdIn,
  isUntouched,
  taskFileMarker,
  renderTaskFile,
} from '../../src/backlog/task-file-format.ts'
import { aBacklog } from './any-task.ts'
import { MemoryJournal } from './world.ts'
import { cases } from '../support/cases.ts'

function rendered(journal: MemoryJournal, id = 'it'): string {
  return renderTaskFile(journal.task(id), journal.backlog())
}

async function content(text: string) {
  const parsed = await parseTaskFile(text)
  if (!parsed.readable) throw new Error(parsed.reason)
  return parsed.content
}

test('a task is rendered in the existing format, without unset fields', () => {
  const journal = new MemoryJournal()
  journal.log('task.added', {
    task: '019b7000-aaaa-7000-8000-0000deadbeef',
    title: 'Fix: the login',
    description: 'It fails.',
    details: 'See `auth.ts`.',
    labels: ['auth', 'a b'],
    dependsOn: ['setup'],
    verify: 'npm test -- "login"',
    checklist: [
      { item: 'logs in', done: true },
      { item: 'logs out', done: false },
    ],
  })
  journal.add('setup')
  journal.move('setup', 'completed')
  expect(rendered(journal, '019b7000-aaaa-7000-8000-0000deadbeef')).toMatchInlineSnapshot(`
    "---
    id: 019b7000-aaaa-7000-8000-0000deadbeef
    shortname: fix-the-login
    title: "Fix: the login"
    priority: P2
    size: M
    status: ready
    tags: [auth, a b]
    blocked_by: [setup]
    verify: "npm test -- \\"login\\""
    created_at: 2026-01-01T00:01:00.000Z
    updated_at: 2026-01-01T00:01:00.000Z
    ---

    ## Description

    It fails.

    ## Acceptance Criteria

    - [x] logs in
    - [ ] logs out

    ## Technical Details

    See \`auth.ts\`.

    ## Dependencies

    - waits for \`setup\` Task setup (completed)

    <!-- stint: task 019b7000-0000-7000-8000-000000000003 0e7b4be2fd19 -->
    "
  `)
})

test('a rendered file parses and renders to the same bytes', async () => {
  await fc.assert(
    fc.asyncProperty(aBacklog, async (journal) => {
      const task = journal.task('it')
      const text = rendered(journal)
      const read = await content(text)
      const { blocks: _b, children: _c, sessions: _s, updatedAt: _u, ...stored } = task
      expect(read).toEqual({
        assignee: '',
        parent: '',
        group: '',
        verify: '',
        ...stored,
        blocks: ['other'],
      })
      const again = new MemoryJournal()
      const { id: _id, blocks: _blocks, status: _status, createdAt, ...fields } = read
      again.log('task.added', {
        task: 'it',
        ...fields,
        ...(createdAt === undefined ? {} : { when: createdAt }),
      })
      again.log('task.added', {
        task: 'other',
        title: journal.task('other').title,
        dependsOn: ['it'],
      })
      again.move('it', task.status)
      expect(rendered(again)).toBe(text)
      expect(isUntouched(text)).toBe(true)
      expect(taskIdIn(text)).toBe('it')
    }),
    { numRuns: cases(300) },
  )
})

test('any id is found in its rendered file without a parser', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (id) => {
      const journal = new MemoryJournal()
      journal.add(id)
      for (const task of journal.backlog().tasks)
        expect(taskIdIn(renderTaskFile(task, journal.backlog()))).toBe(task.id)
    }),
  )
})

test('any text is parsed or refused without throwing', async () => {
  const pieces = fc.constantFrom(
    '---\n',
    'id: x\n',
    'tags: [',
    '&a [*a]',
    '\t',
    '## Description\n',
    '- [x] y\n',
    '<<<<<<< a\n',
    '\0',
    '!!x ',
    '"',
  )
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(pieces, fc.string()), { maxLength: 12 }), async (parts) => {
      const parsed = await parseTaskFile(parts.join(''))
      expect(typeof parsed.readable).toBe('boolean')
    }),
    { numRuns: cases(500) },
  )
})

test('one changed character counts as an edit, other line ends do not', () => {
  const journal = new MemoryJournal()
  journal.add('it', { description: 'Some text' })
  const text = rendered(journal)
  expect(isUntouched(text.replaceAll('\n', '\r\n'))).toBe(true)
  expect(isUntouched(text.replace('Some', 'some'))).toBe(false)
  expect(isUntouched(`${text}more\n`)).toBe(false)
  expect(taskFileMarker(text)?.lastId).toBe(journal.backlog().lastId)
})

test.each([
  ['an empty file', '', 'it is empty'],
  ['a head without an end', '---\nid: x\n\n## Description\n', 'its head has no end'],
  [
    'conflict markers',
    '---\nid: x\n---\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> b\n',
    'it has conflict markers',
  ],
  [
    'a key twice',
    '---\nid: x\nid: y\n---\n',
    'its head is not YAML: Map keys must be unique at line 2, column 1:',
  ],
  [
    'a head that is a list',
    '---\n- a\n---\n',
    'its head is not YAML: the head is not a list of keys',
  ],
  ['a broken list', '---\ntags: [a, b\n---\n', /^its head is not YAML: /],
])('%s is refused with the reason', async (_case, text, reason) => {
  const parsed = await parseTaskFile(text)
  expect(parsed).toMatchObject({ readable: false })
  if (!parsed.readable) expect(parsed.reason).toMatch(reason)
})

test('a task file of another tool is understood', async () => {
  const text = [
    '---',
    'id: 0123',
    'title: Add login',
    'Priority: high',
    'status: in progress # since Monday',
    'tags:',
    '- a',
    '- b',
    'blocked-by: t1, t2',
    'assignee: ~',
    '# mine',
    'estimate: 3',
    '---',
    '# Add login',
    '',
    'In short.',
    '',
    '## Description',
    'At length.',
    '## Acceptance Criteria',
    'All of:',
    '* [X] one',
    '  and a half',
    '1. two',
    '- [ ] ',
    '## Technical Details',
    '## Dependencies',
    'The new server.',
  ].join('\n')
  expect(await content(text)).toEqual({
    id: '0123',
    title: 'Add login',
    priority: 'P1',
    status: 'in_progress',
    labels: ['a', 'b'],
    dependsOn: ['t1', 't2'],
    blocks: [],
    assignee: '',
    parent: '',
    group: '',
    verify: '',
    description: 'In short.\n\nAt length.',
    details: 'All of:\n\nThe new server.',
    checklist: [
      { item: 'one and a half', done: true },
      { item: 'two', done: false },
    ],
    extra: '# mine\nestimate: 3\n# since Monday',
  })
})

test('a note without frontmatter becomes a title and a description', async () => {
  expect(await content('# Buy milk\n\nTwo bottles.\n')).toMatchObject({
    title: 'Buy milk',
    description: 'Two bottles.',
  })
  expect(await content('Buy milk\n')).toMatchObject({ title: 'Buy milk', description: '' })
})

test('a value that is not understood is reported', async () => {
  const parsed = await parseTaskFile('---\npriority: banana\nsize: M\nstatus: lost\n---\n')
  expect(parsed).toMatchObject({
    remarks: [
      'priority: banana is not one of P0, P1, P2, P3',
      'status: lost is not one of ready, in_progress, blocked, completed, failed',
    ],
  })
})
