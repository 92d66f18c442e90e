import { decode } from '@toon-format/toon'
import { expect, test } from 'vitest'
import { renderStateToon, summarizeSession } from '../../src/document/state-files.ts'
import { publicSession } from '../../src/session/public-session.ts'
import { crowdedStory } from '../context/sessions.ts'
import { realTokens } from '../context/vocabularies.ts'
import { Story } from '../support/worlds.ts'

test('the summary does not grow with the session and reports how much it leaves out', () => {
  const story = crowdedStory()
  const crowded = realTokens(renderStateToon(story.state))
  for (let n = 0; n < 500; n += 1) {
    story.add('step.added', { text: `Step ${n} ${'with many words '.repeat(40)}` })
    story.add('decision.made', { title: `Decision ${n} ${'with many words '.repeat(40)}` })
    story.add('discovery.made', { text: `Discovery ${n} ${'with many words '.repeat(40)}` })
    story.add('blocker.raised', { text: `Blocker ${n} ${'with many words '.repeat(40)}` })
    story.add('next.added', { text: `Next ${n} ${'with many words '.repeat(40)}` })
  }
  const toon = renderStateToon(story.state)
  expect(realTokens(toon)).toBeLessThan(crowded + 2500)
  expect(decode(toon.trimEnd())).toMatchObject({
    leftOut: { decisions: 503, discoveries: 503, blockers: 491, next: 492 },
  })
})

test('the current step is in the summary, however many steps come before it', () => {
  const story = new Story()
  const steps = Array.from({ length: 40 }, (_, n) => story.add('step.added', { text: `Step ${n}` }))
  story.add('step.started', { step: steps[35]! })
  expect(summarizeSession(publicSession(story.state)).steps).toContainEqual({
    text: 'Step 35',
    status: 'started',
  })
})

test('the state file has its fields in one order for any order of entries', () => {
  const first = new Story()
  first.add('tldr.written', { text: 'T' })
  first.add('turn.ended', { conversation: 'c-1' })
  first.add('session.paused', {})
  const second = new Story()
  second.add('turn.ended', { conversation: 'c-1' })
  second.add('session.paused', {})
  second.add('tldr.written', { text: 'T' })
  const namesOf = (story: Story) => Object.keys(publicSession(story.state))
  expect(namesOf(first)).toEqual(namesOf(second))
  expect(namesOf(first).slice(0, 3)).toEqual(['format', 'version', 'id'])
})
