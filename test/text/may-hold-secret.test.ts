import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mayHoldSecret } from '../../src/text/may-hold-secret.ts'
import { redact, redactDeep } from '../../src/text/redact.ts'
import { IN_CONTEXT, SECRETS, privateKey, scrambled } from './secrets.ts'

/** Fragments of assignments, some of which combine to a secret. */
const PIECES = [
  'password',
  'PASSWD',
  'passphrase',
  'Secret',
  'client_secret',
  'toKen',
  'API_KEY',
  'access-key',
  'authorization',
  'Bearer',
  '_key',
  '_BASE',
  '-prod',
  '_2',
  's',
  '=',
  ' = ',
  ':',
  ': ',
  ':=',
  '=>',
  '==',
  '\t=\t',
  '\n',
  ' ',
  '--',
  ',',
  '"',
  "'",
  '`',
  '\\"',
  '\\\\\\"',
  '"]',
  '[',
  '{',
  '}',
  '@',
  '://',
  'postgres://u:',
  'AccountKey=',
  'secret_access_key',
  'hunter2hunter2',
  'Xk29fLq8ZpW3',
  'correcthorse',
  '12345678',
  'é',
  'aB3dE5fG7h',
  '${TOKEN}',
  'x',
  'basic dXNlcjpwYXNz',
  'curl -u me:',
  'mysql -uroot -p',
  'docker login ',
  ' -p ',
  'pass',
  'PWD',
  'pw',
  'AZURE_PAT',
  'auth',
  ' is ',
  ' for staging is ',
  '<password>',
  '</',
  'Cookie: sid=',
  '?sig=',
  'echo ',
  ' | sudo -S ',
  "IDENTIFIED BY '",
  'login ci ',
  ' password ',
  'db:5432:app:me:',
  "define('AUTH_KEY', '",
  'AKIAQ7RT2XW5MNPL4VZD',
  'cGFzc3dvcmQ9WGsyOWZMcThacFczZmdo',
  'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEA',
  '-----END RSA PRIVATE KEY-----',
  'Private-Lines: 2',
]
const piece = fc.constantFrom(...PIECES)
const anySecret = fc.constantFrom(
  ...SECRETS.map(([, secret]) => secret),
  ...IN_CONTEXT.map(([text]) => text),
  privateKey(),
)
const anyText = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: piece },
      { weight: 1, arbitrary: anySecret },
      { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
    ),
    {
      maxLength: 14,
    },
  )
  .map((pieces) => pieces.join(''))
const anyName = fc.oneof(
  piece,
  anySecret,
  fc.constantFrom('token', 'apiKey', 'password_1', 'SECRET_KEY_BASE', 'note', 'x-api-key'),
)

describe('the quick check for secrets', () => {
  test('finds every known secret, in a text and in its JSON', () => {
    for (const [, secret] of SECRETS) {
      for (const around of ['', ' ', '\n', '"', 'x=', '\\n', '\u0000', '\u00e9', '\u{1f511}']) {
        const text = `${around}${secret}${around}`
        if (redact(text).found.length === 0) continue
        expect([mayHoldSecret(text), mayHoldSecret(JSON.stringify({ text }))], text).toEqual([
          true,
          true,
        ])
      }
    }
    for (const [text] of IN_CONTEXT)
      expect([mayHoldSecret(text), mayHoldSecret(JSON.stringify(text))], text).toEqual([true, true])
  })

  test('never misses what the patterns find', () => {
    let found = 0
    const property = fc.property(anyText, (text) => {
      if (redact(text).found.length === 0) return
      found += 1
      expect([mayHoldSecret(text), mayHoldSecret(JSON.stringify(text))]).toEqual([true, true])
    })
    fc.assert(property, { numRuns: 3000 })
    expect(found).toBeGreaterThan(300)
  })

  test('never misses a value that its field name marks as secret', () => {
    let found = 0
    const value = fc.dictionary(
      anyName,
      fc.oneof(anyText, fc.array(anyText, { maxLength: 3 }), fc.dictionary(anyName, anyText)),
    )
    const property = fc.property(value, (fields) => {
      if (redactDeep(fields).found.length === 0) return
      found += 1
      expect(mayHoldSecret(JSON.stringify(fields))).toBe(true)
    })
    fc.assert(property, { numRuns: 500 })
    expect(found).toBeGreaterThan(100)
  })

  test('never misses an argument after an option that names a secret', () => {
    let found = 0
    const option = fc
      .tuple(
        fc.constantFrom('-', '--', '--db-', '-X_'),
        anyName,
        fc.constantFrom('', '-key', '_2', '-prod'),
      )
      .map((parts) => parts.join(''))
    const property = fc.property(fc.array(fc.oneof(option, anyText), { maxLength: 6 }), (args) => {
      if (redactDeep({ args }).found.length === 0) return
      found += 1
      expect(mayHoldSecret(JSON.stringify({ args }))).toBe(true)
    })
    fc.assert(property, { numRuns: 500 })
    expect(found).toBeGreaterThan(100)
    for (const name of ['password', 'secret', 'token', 'api-key', 'secret-key'])
      expect(mayHoldSecret(JSON.stringify([`--${name}`, 'hunter2hunter2'])), name).toBe(true)
  })

  test('never misses a secret that is a key or a later list element', () => {
    for (const [, secret] of SECRETS)
      expect(mayHoldSecret(JSON.stringify({ [secret]: 1 })), secret).toBe(true)
    expect(mayHoldSecret(JSON.stringify({ token: ['a b', scrambled(20)] }))).toBe(true)
  })

  test('finds a secret that is cut off anywhere', () => {
    for (const [, secret] of SECRETS) {
      for (let length = 6; length < Math.min(secret.length, 200); length += 1) {
        const text = `${scrambled(3)} ${secret.slice(0, length)}`
        if (redact(text).found.length > 0)
          expect(mayHoldSecret(JSON.stringify(text)), text).toBe(true)
      }
    }
  })

  test('ignores code and prose that only mention secrets', () => {
    const plain =
      'const tokens = usage.tokens\nif (key === undefined) return secrets.length\n// the token count, and a task-list of passwords'
    expect([mayHoldSecret(plain), mayHoldSecret(JSON.stringify(plain))]).toEqual([false, false])
  })
})
