// 150 texts with a secret and 150 harmless ones, written by someone who had not seen the patterns. They are not edited to suit them.
import { describe, expect, test } from 'vitest'
import { shortnameFor } from '../../src/backlog/task.ts'
import { sessionNameFrom } from '../../src/hook/open-session.ts'
import { nameForFiles } from '../../src/project/store/live-session.ts'
import { oneLine, slug } from '../../src/text/clean.ts'
import { mayHoldSecret } from '../../src/text/may-hold-secret.ts'
import { redact, redactDeep } from '../../src/text/redact.ts'
import harmless from './corpus/harmless.json' with { type: 'json' }
import secrets from './corpus/secrets.json' with { type: 'json' }

describe('the patterns, on texts written without sight of them', () => {
  test('find at least 95 % of the secrets, as text and as JSON', () => {
    const missed = secrets.filter(({ text, secret }) => redact(text).text.includes(secret))
    expect(rate(missed, secrets), names(missed)).toBeLessThanOrEqual(0.05)
    const inJson = secrets.filter(({ text, secret }) =>
      JSON.stringify(redactDeep({ text }).value).includes(JSON.stringify(secret).slice(1, -1)),
    )
    expect(rate(inJson, secrets), names(inJson)).toBeLessThanOrEqual(0.05)
  })

  test('touch at most 1 % of the harmless texts', () => {
    const touched = harmless.filter(({ text }) => redact(text).text !== text)
    expect(rate(touched, harmless), names(touched)).toBeLessThanOrEqual(0.01)
  })

  test('are never missed by the quick check, as text and as JSON', () => {
    const missed = secrets.filter(
      ({ text }) =>
        redact(text).text !== text &&
        !(mayHoldSecret(text) && mayHoldSecret(JSON.stringify({ text }))),
    )
    expect(names(missed)).toBe('')
  })

  test('change nothing in what they have redacted', () => {
    const unstable = secrets.filter(({ text }) => {
      const once = redact(text).text
      return redact(once).text !== once
    })
    expect(names(unstable)).toBe('')
  })
})

const rate = (some: readonly unknown[], all: readonly unknown[]) => some.length / all.length
const names = (texts: readonly { readonly name: string }[]) =>
  texts.map(({ name }) => name).join(', ')

describe('a name made of a text', () => {
  test.each([
    ['a session that the first edit opens', (text: string) => sessionNameFrom('main', text)],
    ['a session on a branch', (text: string) => sessionNameFrom(text, '')],
    ['a task of a file or a list', shortnameFor],
    ['a session renamed from elsewhere', (name: string) => nameForFiles({ name })],
  ])('holds no secret: %s', (_, nameOf) => {
    const named = secrets.filter(({ text, secret }) =>
      nameOf(oneLine(secret === text ? text : textBefore(text, secret))).includes(
        slug(secret, Infinity).slice(0, 10),
      ),
    )
    expect(rate(named, secrets), names(named)).toBeLessThanOrEqual(0.05)
  })
})

/** From the line of the secret on, as a name takes only the first words. */
function textBefore(text: string, secret: string) {
  return text.slice(text.lastIndexOf('\n', text.indexOf(secret)) + 1)
}
