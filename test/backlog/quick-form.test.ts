import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { readQuickForm } from '../../src/backlog/specialist.ts'

test.each([
  ['Add login (depends: [t1, t2])', { title: 'Add login', dependsOn: ['t1', 't2'] }],
  ['Add login (depends: t1)', { title: 'Add login', dependsOn: ['t1'] }],
  ['Add login (parallel: group1)', { title: 'Add login', group: 'group1' }],
  ['Add login → code agent', { title: 'Add login', assignee: 'code' }],
  ['Add login -> code', { title: 'Add login', assignee: 'code' }],
  ['Add login -> docs', { title: 'Add login', assignee: 'documentation' }],
  ['Add login → AKIS agent', { title: 'Add login', assignee: 'AKIS' }],
  ['Add login #auth #web', { title: 'Add login', labels: ['auth', 'web'] }],
  ['Add login P1 !S', { title: 'Add login', priority: 'P1', size: 'S' }],
  [
    'Add login !XL #auth (parallel: g) -> tests P0 (depends: [a])',
    {
      title: 'Add login',
      size: 'XL',
      labels: ['auth'],
      group: 'g',
      assignee: 'tests',
      priority: 'P0',
      dependsOn: ['a'],
    },
  ],
])('%j is read as %j', (text, expected) => {
  expect(readQuickForm(text)).toEqual({ dependsOn: [], labels: [], ...expected })
})

test.each([
  'Add login -> see docs',
  'Rename a -> b',
  'Fix #12',
  'Support C#',
  'Teach #tags to sort',
  'Call it P9',
  'Say hello!M',
  'P1',
  '#bug',
  '→ code agent',
  'Explain (depends: [t1]) in the docs',
  'Handle (parallel:)',
])('%j stays a plain title', (text) => {
  expect(readQuickForm(text)).toEqual({ title: text, dependsOn: [], labels: [] })
})

test('with two priorities, the last counts and the first stays in the title', () => {
  expect(readQuickForm('Move it from P3 P1')).toMatchObject({
    title: 'Move it from P3',
    priority: 'P1',
  })
})

test('a title is never lost, and no quick form is left at its end', () => {
  const word = fc.constantFrom(
    'add',
    'x',
    '#a',
    'P1',
    '!M',
    '-> code',
    '(depends: [t1])',
    '(parallel: g)',
    '→',
    '(',
    ')',
  )
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 8 }), (words) => {
      const { title } = readQuickForm(words.join(' '))
      expect(title).not.toBe('')
      expect(words.join(' ').startsWith(title)).toBe(true)
    }),
  )
})
