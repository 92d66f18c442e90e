import { describe, expect, test } from 'vitest'
import { orderPair } from '../../../src/run/parallel/schedule.ts'
import { someTask } from './candidates.ts'

const work = (assignee: string) => someTask(assignee, { assignee, parent: 'piece' })

describe('in related work', () => {
  test.each([
    ['code', 'documentation'],
    ['code', 'tests'],
    ['architect', 'research'],
    ['documentation', 'tests'],
    ['code', 'code'],
    ['code', 'debugger'],
  ])('%s and %s may run together', (a, b) => {
    expect(orderPair(work(a), work(b))!.how).toBe('together')
    expect(orderPair(work(b), work(a))!.how).toBe('together')
  })

  test.each([
    ['research', 'code'],
    ['research', 'debugger'],
    ['research', 'devops'],
    ['code', 'reviewer'],
    ['debugger', 'reviewer'],
  ])('%s comes before %s', (a, b) => {
    expect(orderPair(work(a), work(b))!.how).toBe('first before second')
    expect(orderPair(work(b), work(a))!.how).toBe('second before first')
    expect(orderPair(work(a), work(b))!.because).toBe(orderPair(work(b), work(a))!.because)
  })
})

describe('which tasks are related work', () => {
  const code = (fields: object) => someTask('a', { assignee: 'code', ...fields })
  const review = (fields: object) => someTask('b', { assignee: 'reviewer', ...fields })

  test.each([
    ['with the same parent', { parent: 'p' }, { parent: 'p' }],
    ['of one epic', { labels: ['ui', 'epic:login'] }, { labels: ['epic:login'] }],
    ['of one epic in another spelling', { labels: ['epic-7'] }, { labels: ['epic-7'] }],
  ])('%s: the review comes after', (_which, a, b) => {
    expect(orderPair(code(a), review(b))!.how).toBe('first before second')
  })

  test.each([
    ['with different parents', { parent: 'p' }, { parent: 'q' }],
    ['of different epics', { labels: ['epic:a'] }, { labels: ['epic:b'] }],
    ['with any other label in common', { labels: ['ui'] }, { labels: ['ui'] }],
    ['with a label that only starts like an epic', { labels: ['epics'] }, { labels: ['epics'] }],
    ['with an empty parent', { parent: '' }, { parent: '' }],
    ['without any relation', {}, {}],
  ])('%s: they are unrelated', (_which, a, b) => {
    expect(orderPair(code(a), review(b))).toBeUndefined()
  })

  test('tasks of one group may run together, even of different kinds', () => {
    const fields = { parent: 'p', group: 'g' }
    expect(orderPair(code(fields), review(fields))!.how).toBe('together')
    expect(orderPair(code({ ...fields, group: '' }), review({ ...fields, group: '' }))!.how).toBe(
      'first before second',
    )
  })
})
