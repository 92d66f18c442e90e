import { describe, expect, test } from 'vitest'
import { entryValuer, standingDecisions } from '../../src/context/entry-value.ts'
import { packContext } from '../../src/context/injected-context.ts'
import { Story } from '../support/worlds.ts'
import { longStory } from './sessions.ts'

const decision = (id: string, text: string) => ({ id, text })

describe('of the entries of a session', () => {
  test('the newer one is worth more, and one about the open work more than both', () => {
    const story = new Story()
    story.add('step.added', { text: 'Raise the connection limit of the pool' })
    const texts = [
      'The connection limit of the pool is 20',
      'Colour 1 is wrong',
      'Colour 2 is wrong',
    ]
    const values = entryValuer(story.state)('discovery', texts).map(({ value }) => value)
    expect(values[0]).toBeGreaterThan(values[2]!)
    expect(values[2]).toBeGreaterThan(values[1]!)
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
})

describe('a context without room for everything', () => {
  test('shows open steps and blockers before older notes and findings', () => {
    const story = new Story()
    for (let n = 0; n < 120; n += 1) {
      story.add('note.added', { text: `Note ${n} on how the importer reads a file of many rows` })
      story.add('discovery.made', { text: `Finding ${n} on how the exporter writes its columns` })
    }
    for (let n = 0; n < 12; n += 1) story.add('step.added', { text: `Open piece of work ${n}` })
    story.add('blocker.raised', { text: 'No access to the replica' })
    const { text } = packContext(story.state)
    for (let n = 0; n < 12; n += 1) expect(text).toContain(`Open piece of work ${n}`)
    expect(text).toContain('No access to the replica')
    expect(text).toContain('Finding 119')
    expect(text).not.toContain('Note 0 ')
  })

  test('begins with a head that stays the same while the work continues', () => {
    const story = longStory()
    const headOf = (text: string) => text.slice(0, text.indexOf('\nTL;DR'))
    const head = headOf(packContext(story.state, { budget: 1000 }).text)
    story.add('step.added', { text: 'Measure again with twice the watchers' })
    story.add('discovery.made', { text: 'The watcher polls twice' })
    expect(headOf(packContext(story.state, { budget: 1000 }).text)).toBe(head)
  })
})
