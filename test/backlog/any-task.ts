import * as fc from 'fast-check'
import type { EntryData, TaskStatus } from '../../src/session/entries.ts'
import { anyLine, anyText } from '../support/texts.ts'
import { MemoryJournal } from './world.ts'

const OURS = [
  '## Description',
  '## acceptance criteria ##',
  '\\## Technical Details',
  '## Dependencies',
  '## Notes of mine',
  '<!-- stint: task 019b7000-0000-7000-8000-000000000001 0123456789ab -->',
  '- waits for `nothing` at all',
  'null',
  '~',
  'true',
  '12',
  '0x1f',
  '2026-01-01',
  'a: b',
  '# Heading',
]

export const aLine = fc.oneof(anyLine, fc.constantFrom(...OURS))
export const aPassage = fc
  .array(fc.oneof(anyText, fc.constantFrom(...OURS), fc.constant('')), { maxLength: 4 })
  .map((lines) => lines.join('\n'))
export const aChecklist = fc.array(fc.record({ item: aLine, done: fc.boolean() }), { maxLength: 4 })
export const aStatus = fc.constantFrom<TaskStatus>(
  'ready',
  'in_progress',
  'blocked',
  'completed',
  'failed',
)
const aList = fc.array(aLine, { maxLength: 3 })
const anExtra = fc.constantFrom(
  '',
  'estimate: 3',
  '# a remark\nowner:\n  - a\n\n  - "b"',
  "'quoted key': {a: 1}",
)

export const someFields: fc.Arbitrary<Omit<EntryData['task.added'], 'task'>> = fc.record(
  {
    title: aLine,
    description: aPassage,
    details: aPassage,
    priority: fc.constantFrom('P0', 'P1', 'P2', 'P3'),
    size: fc.constantFrom('XS', 'S', 'M', 'L', 'XL'),
    labels: aList,
    dependsOn: fc.oneof(aList, fc.constant(['other'])),
    parent: fc.oneof(aLine, fc.constant('other')),
    group: aLine,
    assignee: aLine,
    verify: aPassage,
    checklist: aChecklist,
    extra: anExtra,
  },
  { requiredKeys: [] },
)

/** A backlog with the arbitrary task `it`, and `other`, which depends on it. */
export const aBacklog = fc
  .record({ fields: someFields, status: aStatus, title: aLine })
  .map(({ fields, status, title }) => {
    const journal = new MemoryJournal()
    // A name that none of the texts above is: depending on itself is another test.
    journal.log('task.added', { task: 'it', shortname: 'it-itself', ...fields })
    journal.log('task.added', { task: 'other', title, dependsOn: ['it'] })
    journal.move('it', status)
    return journal
  })
