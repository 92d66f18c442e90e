import { expect, test } from 'vitest'
import { sizeClassOf } from '../../src/run/plan/order-tasks.ts'

const plain = { title: 'Do it', description: '' }

test.each([
  ['XS', 'small'],
  ['S', 'small'],
  ['M', 'medium'],
  ['L', 'large'],
  ['XL', 'large'],
  [' xl ', 'large'],
])('a task of size %s is %s, however long its description', (size, expected) => {
  expect(sizeClassOf({ ...plain, size })).toBe(expected)
  expect(sizeClassOf({ ...plain, size, description: 'x'.repeat(50_000) })).toBe(expected)
})

test.each([
  ['three sentences are small', { description: 'x'.repeat(295) }, 'small'],
  ['a paragraph more is medium', { description: 'x'.repeat(296) }, 'medium'],
  ['a page and a half is large', { description: 'x'.repeat(1_995) }, 'large'],
  [
    'details count like the description',
    { description: 'x'.repeat(1_000), details: 'y'.repeat(1_000) },
    'large',
  ],
  ['each item of a checklist is work', { checklist: ['a', 'b', 'c'] }, 'medium'],
  [
    'a task with parts is small, since these are tasks themselves',
    { description: 'x'.repeat(9_000), children: ['a'] },
    'small',
  ],
  ['an unknown size is ignored', { size: 'huge' }, 'small'],
])('without a size %s', (_promise, fields, expected) => {
  expect(sizeClassOf({ ...plain, ...fields })).toBe(expected)
})

test('the lengths can be configured', () => {
  const settings = {
    length: { smallUpTo: 10, largeFrom: 20 },
    batch: { places: 4, small: 1, medium: 2, leaveAbove: 0.5 },
  }
  const classes = [5, 6, 14, 15].map((length) =>
    sizeClassOf({ title: 'Do it', description: 'x'.repeat(length) }, settings),
  )
  expect(classes).toEqual(['small', 'medium', 'medium', 'large'])
})
