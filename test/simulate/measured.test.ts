import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { wrongIn } from '../../src/simulate/measure/judge.ts'
import { isMeasurement, readMeasured, saveMeasured } from '../../src/simulate/measure/kept.ts'
import { factsOf, storyOf } from '../../src/simulate/measure/sessions/story.ts'
import { shipped } from '../../src/simulate/measure/shipped.ts'
import type { Deed, Standing } from '../../src/simulate/measure/worker/orders.ts'
import { scratchFolder } from '../support/scratch.ts'

describe('what was measured', () => {
  test('is shipped whole', () => {
    expect(isMeasurement(shipped)).toBe(true)
  })

  test('on this machine is kept, and read back', () => {
    const env = { STINT_STATE_HOME: join(scratchFolder(), 'state') }
    expect(readMeasured(env)).toBeUndefined()
    saveMeasured(shipped, env)
    saveMeasured({ ...shipped, version: '9.9.9' }, env)
    expect(readMeasured(env)).toEqual({ ...shipped, version: '9.9.9' })
  })

  test.each([
    ['cut off', JSON.stringify(shipped).slice(0, 200)],
    ['without its control', JSON.stringify({ ...shipped, control: undefined })],
    ['with more that happened than was tried', JSON.stringify({ ...shipped, stale: { happened: 2, trials: 1 } })],
    ['with a word for a number', JSON.stringify({ ...shipped, conflicts: { happened: 'none', trials: 1 } })],
    ['without its complex sessions', JSON.stringify({ ...shipped, sessions: { ...shipped.sessions, complex: {} } })],
  ])('and is there %s is refused, and it is said what to remove', (_, text) => {
    const folder = scratchFolder()
    writeFileSync(join(folder, 'measured.json'), text)
    const path = join(folder, 'measured.json')
    expect(() => readMeasured({ STINT_STATE_HOME: folder })).toThrow(
      expect.objectContaining({
        code: 'MEASUREMENT_DAMAGED',
        message: expect.stringContaining(path),
        hint: `remove it: rm ${path}`,
      }),
    )
  })
})

describe('of what was acknowledged', () => {
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
  const withStatus = (name: string, is: 'open' | 'working') => ({ ...good, statuses: { ...good.statuses, [name]: is } })

  test('all is there, and more may be', () => {
    expect(wrongIn(good, deeds)).toEqual([])
    expect(wrongIn({ ...good, statuses: { ...good.statuses, 'task t': 'done' } }, deeds)).toEqual([])
  })

  test.each([
    ['a step is at work that was done', withStatus('step a', 'working')],
    ['a task is not begun that was', withStatus('task t', 'open')],
    ['an item is not ticked any more', withStatus('item i', 'open')],
    ['a step is gone', { ...good, statuses: { 'task t': 'working', 'item i': 'done' } } as Standing],
    ['a decision is gone', { ...good, counts: { f: 1 } } as Standing],
    ['a discovery is there twice', { ...good, counts: { d: 1, f: 2 } } as Standing],
  ])('%s, and it is noticed', (_, standing) => {
    expect(wrongIn(standing, deeds)).toHaveLength(1)
  })
})

describe('a session to be worked through', () => {
  test('has as many tasks as the study gives its complexity, and the same for the same seed', () => {
    const counts = (complexity: 'simple' | 'medium' | 'complex') =>
      new Set(Array.from({ length: 200 }, (_, seed) => storyOf(complexity, seed, false).tasks.length))
    expect([...counts('simple')].toSorted()).toEqual([1, 2])
    expect([...counts('medium')].toSorted()).toEqual([3, 4, 5])
    expect([...counts('complex')].toSorted((a, b) => a - b)).toEqual([6, 7, 8, 9, 10])
    expect(storyOf('complex', 7, false)).toEqual(storyOf('complex', 7, false))
  })

  test('has no fact whose words stand in another one, so that each is found for itself', () => {
    const words = factsOf({ ...storyOf('complex', 1, false), tasks: allTasks() }).flatMap((fact) => fact.words)
    for (const one of words) expect(words.filter((other) => other.includes(one))).toEqual([one])
  })
})

function allTasks() {
  const stories = Array.from({ length: 50 }, (_, seed) => storyOf('complex', seed, false))
  return [...new Set(stories.flatMap(({ tasks }) => tasks))]
}
