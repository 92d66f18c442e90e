import { expect, test } from 'vitest'
import { publicSession, publicSessionHead } from '../../src/session/public-session.ts'
import { Story } from '../support/worlds.ts'

/** Fields of the state that are public under another name, or not at all. */
const RENAMED: Readonly<Record<string, string>> = { entryCount: 'counts' }
const INTERNAL = new Set(['once'])

test('the public session has every field of the state except the once keys', () => {
  const story = new Story()
  story.add('tldr.written', { text: 'T' })
  story.add('turn.ended', { conversation: 'c-1' })
  const seen = publicSession(story.state)
  const missing = Object.keys(story.state).filter(
    (name) => !INTERNAL.has(name) && !Object.hasOwn(seen, RENAMED[name] ?? name),
  )
  expect(missing).toEqual([])
  expect(seen).not.toHaveProperty('once')
})

test('the public session head is a subset of the public session with the same names', () => {
  const story = new Story()
  story.add('step.added', { text: 'First' })
  story.add('blocker.raised', { text: 'No disk' })
  expect(publicSession(story.state)).toMatchObject(publicSessionHead(story.state))
})
