import { expect, test } from 'vitest'
import { reportedSince } from '../../src/session/kinds/delegates.ts'
import { Story } from '../support/worlds.ts'

test('a session keeps every unfinished delegate, and the latest of the merged and discarded ones', () => {
  const story = new Story()
  const begin = (n: number) =>
    story.add('delegate.begun', { delegate: `d-${n}`, name: `n-${n}`, what: 'w', branch: 'b' })
  begin(0)
  for (let n = 1; n <= 60; n += 1) {
    begin(n)
    story.add('delegate.reported', {
      delegate: `d-${n}`,
      name: `n-${n}`,
      status: n % 2 === 0 ? 'merged' : 'discarded',
    })
  }
  const { delegates } = story.state
  expect(delegates.items.map(({ name }) => name)).toEqual([
    'n-0',
    ...Array.from({ length: 24 }, (_, n) => `n-${n + 37}`),
  ])
  expect(delegates.earlier).toBe(36)
})

test('a delegate that is started again keeps its place and loses its earlier outcome', () => {
  const story = new Story()
  const first = story.add('delegate.begun', {
    delegate: 'd-1',
    name: 'one',
    what: 'w',
    branch: 'b',
    group: 'g',
  })
  story.add('delegate.begun', { delegate: 'd-2', name: 'two', what: 'w', branch: 'b' })
  const report = story.add('delegate.reported', {
    delegate: 'd-1',
    name: 'one',
    status: 'failed',
    because: 'red',
    summary: 's',
  })
  expect(story.state.delegates.items[0]).toMatchObject({
    id: first,
    status: 'failed',
    because: 'red',
    group: 'g',
    text: 'w',
  })
  expect(reportedSince(story.state, '').map(({ name }) => name)).toEqual(['one'])
  expect(reportedSince(story.state, report)).toEqual([])
  story.add('delegate.begun', { delegate: 'd-1', name: 'one', what: 'w', branch: 'b' })
  expect(story.state.delegates.items.map(({ name, status }) => [name, status])).toEqual([
    ['one', 'running'],
    ['two', 'running'],
  ])
  expect(story.state.delegates.items[0]).not.toHaveProperty('because')
  expect(reportedSince(story.state, '')).toEqual([])
})

test('a report of an unknown delegate is kept, and a report without a status is ignored', () => {
  const story = new Story()
  story.add('delegate.reported', { delegate: 'd-1', name: 'one', status: 'ready', what: 'look' })
  story.add('delegate.reported', { delegate: 'd-1', name: 'one', status: 'flying' as never })
  story.add('delegate.reported', { delegate: '', name: 'none', status: 'ready' })
  expect(story.state.delegates.items).toMatchObject([
    { name: 'one', status: 'ready', text: 'look' },
  ])
})
