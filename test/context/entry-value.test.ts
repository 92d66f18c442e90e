import { describe, expect, test } from 'vitest'
import {
  chooseEntries,
  standingDecisions,
  valuedEntries,
  valuedLines,
} from '../../src/context/entry-value.ts'
import { costOfAll } from '../../src/context/text-size.ts'
import { Story, sweepStory } from '../support/worlds.ts'
import { longStory } from './sessions.ts'

const decision = (id: string, text: string) => ({ id, text })

describe('of the entries of a session', () => {
  test('what is open, pinned or decided comes before everything else', () => {
    const kinds = valuedEntries(sweepStory().state).map(({ kind }) => kind)
    const standing = new Set(['blocker', 'next', 'step', 'pinned', 'decision'])
    const firstOther = kinds.findIndex((kind) => !standing.has(kind))
    expect(kinds.slice(0, firstOther).length).toBeGreaterThan(0)
    expect(kinds.slice(firstOther).filter((kind) => standing.has(kind))).toEqual([])
  })

  test('a finished step and a resolved blocker have no value', () => {
    const story = new Story()
    const step = story.add('step.added', { text: 'Raise the limit of the pool' })
    story.add('step.done', { step })
    const blocker = story.add('blocker.raised', { text: 'No access to the replica' })
    story.add('blocker.resolved', { blocker, resolution: 'Granted' })
    expect(valuedEntries(story.state)).toEqual([])
  })

  test('of one kind the newer entry comes first, and one about the open work before both', () => {
    const story = new Story()
    story.add('step.added', { text: 'Raise the connection limit of the pool' })
    story.add('discovery.made', { text: 'The connection limit of the pool is 20' })
    for (let index = 0; index < 4; index += 1)
      story.add('discovery.made', { text: `Colour ${index} of the banner is wrong` })
    const texts = valuedEntries(story.state).map(({ text }) => text)
    expect(texts).toEqual([
      'Raise the connection limit of the pool',
      'The connection limit of the pool is 20',
      'Colour 3 of the banner is wrong',
      'Colour 2 of the banner is wrong',
      'Colour 1 of the banner is wrong',
      'Colour 0 of the banner is wrong',
    ])
  })

  test('a decision is replaced by a later one on the same alternatives', () => {
    const first = decision(
      '1',
      'Use size-tiered compaction rather than leveled compaction for tenants',
    )
    const other = decision('2', 'Use a Link header for the next page rather than a body field')
    const back = decision('3', 'Reversed: leveled compaction in place of size-tiered compaction')
    expect(standingDecisions([first, other, back])).toEqual([other, back])
  })

  test('the chosen ones fit the room, and a small one takes what a large one leaves', () => {
    const entry = (id: string, value: number, size: number) => ({
      kind: 'note' as const,
      id,
      text: 'x'.repeat(size),
      value,
    })
    const entries = [
      entry('a', 1.5, 50),
      entry('b', 0.3, 60),
      entry('c', 0.2, 20),
      entry('d', 0.1, 30),
    ]
    const chosen = chooseEntries(entries, 100, ({ text }) => text.length)
    expect(chosen.map(({ id }) => id)).toEqual(['a', 'c', 'd'])
  })
})

describe('the lines of the most valuable entries', () => {
  test.each([200, 500, 1000, 2000])('cost at most %i', (room) => {
    const lines = valuedLines(longStory().state, room)
    expect(lines.length).toBeGreaterThan(0)
    expect(costOfAll(lines)).toBeLessThanOrEqual(room)
  })

  test('begin with a head that stays the same while the work continues', () => {
    const story = longStory()
    const headOf = (lines: readonly string[]) =>
      lines.slice(
        0,
        lines.findIndex((line) => line.startsWith('Open') || line.startsWith('Next')),
      )
    const head = headOf(valuedLines(story.state, 1000))
    story.add('step.added', { text: 'Measure again with twice the watchers' })
    story.add('progress.made', { text: 'The lock is in place' })
    story.add('discovery.made', { text: 'The watcher polls twice' })
    expect(headOf(valuedLines(story.state, 1000))).toEqual(head)
  })
})
