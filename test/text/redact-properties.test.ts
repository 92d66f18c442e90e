import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { redact } from '../../src/text/redact.ts'
import { IN_CONTEXT, SECRETS, privateKey } from './secrets.ts'
import { cases } from '../support/cases.ts'

// Words, signs and fragments of secrets in any order, where patterns may interfere with each other.
const pieces = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.constantFrom(
    'password',
    'token',
    'secret',
    'api_key',
    'key',
    '=',
    ':',
    ': ',
    ' = ',
    '"',
    "'",
    '\\"',
    '\\n',
    '\n',
    ' ',
    '--',
    '://',
    '@',
    '/',
  ),
  fc.constantFrom(
    '[redacted:token]',
    '[redacted:',
    ']',
    'Bearer ',
    'Authorization: ',
    'http://',
    'eyJ',
    'sk-',
    'ghp_',
    'hunter2hunter',
    'abcdefgh1',
  ),
  fc.constantFrom(...SECRETS.map(([, secret]) => secret)),
  fc.constantFrom(...IN_CONTEXT.map(([text]) => text)),
  fc.constantFrom(privateKey('', 2), privateKey('', 2).slice(0, 80)),
)
const anyText = fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join(''))

describe('redaction', () => {
  test('a second time changes nothing and finds nothing', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const once = redact(text).text
        expect(redact(once)).toEqual({ text: once, found: [] })
      }),
      { numRuns: cases(1000) },
    )
  })

  test('a secret at any position of any text is removed', () => {
    const separators = fc.constantFrom(' ', '\n', '"', "'", '(', ',', ';', '>', '\t', '`')
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.nat(),
        fc.constantFrom(...SECRETS),
        separators,
        (text, at, [, secret], separator) => {
          const position = at % (text.length + 1)
          const whole =
            text.slice(0, position) + separator + secret + separator + text.slice(position)
          expect(redact(whole).text).not.toContain(secret)
        },
      ),
      { numRuns: cases(1000) },
    )
  })

  test('the text around a secret is kept', () => {
    const words = fc.array(
      fc.constantFrom('the', 'run', 'of', 'tests', 'passed', '42', 'src/a.ts', '\n'),
      { maxLength: 20 },
    )
    fc.assert(
      fc.property(words, fc.constantFrom(...SECRETS), words, (before, [kind, secret], after) => {
        const whole = [...before, secret, ...after].join(' ')
        expect(redact(whole).text).toBe([...before, `[redacted:${kind}]`, ...after].join(' '))
      }),
    )
  })

  test('the text never grows by more than one marker per eight characters', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(redact(text).text.length).toBeLessThanOrEqual(
          text.length + (text.length / 8 + 1) * '[redacted:digitalocean-token]'.length,
        )
      }),
    )
  })
})

describe('a megabyte built to be slow is read to its end', () => {
  const begin = privateKey().split('\n')[0] ?? ''
  const units = [
    'token=',
    'token="',
    'token:token: ',
    `password='a"`,
    'secret=\\"',
    'secret="\\"',
    '--token ',
    '--',
    'passwordpasswordpassword: ',
    'a1'.repeat(8),
    'eyJ',
    'eyJaaaaaaaaaa.',
    'eyJaaaaaaaaaa-eyJ',
    'eyJaaaaaaaa.eyJaaaaaaaa.',
    'sk-',
    'sk-a',
    'ghp_a',
    'xoxb-',
    'SG.',
    'MMMMMMMMMMMMMMMMMMMMMMMM.aaaaaa.',
    'http://a:',
    'http://a:b',
    'mysql://a:b/',
    'a://',
    '@',
    'Authorization: ',
    'bearer  ',
    `${begin}\n`,
    `${begin}AAAA`,
    '-----END ',
    '[redacted:token]',
    '1234567:AA',
    'AKIA',
    ' ',
    '\\',
    '/',
    '.',
  ]
  test.each(units)('of %j', (unit) => {
    const text = unit.repeat(Math.ceil(1_000_000 / unit.length))
    expect(redact(text).text.length).toBeGreaterThan(0)
    expect(redact(`token="${text}`).text.length).toBeGreaterThan(0)
  })
})
