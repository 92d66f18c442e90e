import { describe, expect, test } from 'vitest'
import { lineForPerson } from '../../src/context/person-line.ts'
import { Story, sweepStory } from '../support/worlds.ts'

describe('the status line for the user', () => {
  test('shows progress, current step and blockers', () => {
    const story = sweepStory()
    story.add('blocker.raised', { text: 'Waiting for the API docs' })
    expect(lineForPerson(story.state)).toBe(
      '📋 fix-sweep-bug · 3/5 · now: Implement fix · after 2 compactions · ⛔ 1 blocker: Waiting for the API docs · /session-resume for all of it',
    )
  })

  test('leaves out empty values', () => {
    expect(lineForPerson(new Story().state)).toBe(
      '📋 fix-sweep-bug · /session-resume for all of it',
    )
  })

  test('says when a session is paused', () => {
    const story = new Story()
    story.add('session.paused', {})
    story.add('context.compacted', {})
    expect(lineForPerson(story.state)).toBe(
      '📋 fix-sweep-bug · paused · after 1 compaction · /session-resume for all of it',
    )
  })

  test('shortens each long value, so that the others still fit', () => {
    const story = new Story()
    story.add('session.renamed', { name: 'a-very-long-name-'.repeat(20) })
    story.add('step.started', {
      step: story.add('step.added', { text: 'A step with many words '.repeat(20) }),
    })
    story.add('blocker.raised', { text: 'A blocker\nof two lines '.repeat(20) })
    story.add('blocker.raised', { text: 'Another blocker, also with many words '.repeat(20) })
    const line = lineForPerson(story.state)
    expect(line.length).toBeLessThanOrEqual(200)
    expect(line).toMatch(
      /^📋 a-very-long-name-.*… · 0\/1 · now: A step.*… · ⛔ 2 blockers: Another.*… · \/session-resume for all of it$/u,
    )
  })
})
