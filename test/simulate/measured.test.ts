import { describe, expect, test } from 'vitest'
import { wrongIn } from '../../bench/measure/trials.ts'
import { factsOf, storiesOf } from '../../bench/measure/story.ts'
import type { Deed, Standing } from '../../bench/measure/orders.ts'

describe('the check of acknowledged entries', () => {
  const deeds: readonly Deed[] = [
    { step: 'a', is: 'working' },
    { step: 'a', is: 'done' },
    { task: 't', is: 'working' },
    { ticked: 'i' },
    { decision: 'd' },
    { discovery: 'f' },
  ]
  const good: Standing = {
    statuses: { 'step a': 'done', 'task t': 'working', 'item i': 'done' },
    counts: { d: 1, f: 1, 'never acknowledged': 1 },
  }
  const withStatus = (name: string, is: 'open' | 'working') => ({
    ...good,
    statuses: { ...good.statuses, [name]: is },
  })

  test('passes when all are present, also with extra ones', () => {
    expect(wrongIn(good, deeds)).toEqual([])
    expect(wrongIn({ ...good, statuses: { ...good.statuses, 'task t': 'done' } }, deeds)).toEqual(
      [],
    )
  })

  test.each([
    ['a step is at work that was done', withStatus('step a', 'working')],
    ['a task is not begun that was', withStatus('task t', 'open')],
    ['an item is not ticked any more', withStatus('item i', 'open')],
    [
      'a step is gone',
      { ...good, statuses: { 'task t': 'working', 'item i': 'done' } } as Standing,
    ],
    ['a decision is gone', { ...good, counts: { f: 1 } } as Standing],
    ['a discovery is there twice', { ...good, counts: { d: 1, f: 2 } } as Standing],
  ])('fails when %s', (_, standing) => {
    expect(wrongIn(standing, deeds)).toHaveLength(1)
  })
})

describe('a generated session', () => {
  test("has the study's average number of tasks, and is the same for the same seed", () => {
    const tasks = (complexity: 'simple' | 'medium' | 'complex', count: number) =>
      storiesOf(complexity, count, 42).map((story) => story.tasks.length)
    expect(tasks('simple', 4)).toEqual([1, 1, 2, 2])
    expect(tasks('medium', 4)).toEqual([3, 4, 4, 5])
    expect(tasks('complex', 4)).toEqual([6, 7, 9, 10])
    expect([tasks('simple', 1), tasks('medium', 1), tasks('complex', 1)]).toEqual([[1], [3], [6]])
    expect(storiesOf('complex', 4, 7)).toEqual(storiesOf('complex', 4, 7))
  })

  test('has no fact whose text is part of another', () => {
    const longest = storiesOf('complex', 2, 1).at(-1)!
    const words = factsOf(longest).flatMap((fact) => fact.words)
    expect(longest.tasks).toHaveLength(10)
    for (const one of words) expect(words.filter((other) => other.includes(one))).toEqual([one])
  })
})
