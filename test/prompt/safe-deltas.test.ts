import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { SafeDeltas } from '../../src/run/prompt/run-prompt.ts'
import { withoutControls } from '../../src/text/clean.ts'
import { redact } from '../../src/text/redact.ts'

const KEY = `sk-ant-api03-${'aB3'.repeat(30)}`

function emitted(...pieces: readonly string[]): readonly string[] {
  const safe = new SafeDeltas({})
  return pieces.map((piece) => safe.add(piece))
}

test('emits a delta up to its last complete word', () => {
  expect(emitted('I lo', 'ok at', ' it.\nThen', ' more')).toEqual([
    'I ',
    'look ',
    'at it.\n',
    'Then ',
  ])
})

test('never emits a secret, in however many deltas it arrives', () => {
  const halves = emitted(`The key is ${KEY.slice(0, 40)}`, `${KEY.slice(40)} and`, ' more\n')
  expect(halves.join('')).toBe('The key is [redacted:anthropic-key] and more\n')
  expect(emitted('password = hun', 'ter2-Xk81z', '!q9 \n').join('')).not.toContain('hunter2')
  const pem = [
    '-----BEGIN RSA PRIV',
    'ATE KEY-----\nMIIEpAIBAAKCAQEA\n',
    'x\n-----END RSA PRIVATE KEY-----\n',
  ]
  expect(emitted('Here: ', ...pem)).toEqual(['Here: ', '', '', ''])
})

test('emits no terminal control characters', () => {
  expect(emitted('red \u001B[31mtext\u001B[0m here\n').join('')).toBe('red text here\n')
})

test('emits a prefix of the message, or stops where redaction changes it', () => {
  const words = fc.constantFrom(
    'a ',
    'the key ',
    KEY,
    '\n',
    'end.',
    ' ',
    'token=',
    'ghp_0123456789abcdefghijABCDEFGHIJ012345',
  )
  fc.assert(
    fc.property(fc.array(words), fc.integer({ min: 1, max: 9 }), (parts, length) => {
      const text = parts.join('')
      const pieces = text.match(new RegExp(`[\\s\\S]{1,${length}}`, 'g')) ?? []
      const all = emitted(...pieces).join('')
      expect(redact(all).text).toBe(all)
      if (redact(text).text === withoutControls(text)) expect(text.startsWith(all)).toBe(true)
    }),
  )
})
