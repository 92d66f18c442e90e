import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { redact, redactDeep } from '../../src/text/redact.ts'
import { IN_CONTEXT, SECRETS, privateKey, scrambled } from './secrets.ts'

const sha = '8bf17ff0c4a1d6e2b3f4a5968778695a4b3c2d1e'

describe('a secret is redacted', () => {
  test.each(SECRETS.map(([kind, secret], i) => ({ kind, secret, i })))(
    '$kind ($i) anywhere in a text',
    ({ kind, secret }) => {
      for (const [before, after] of [
        ['', ''],
        ['see ', ' there'],
        ['"', '"'],
        ['x=', ';'],
        ['\\n', '\\n'],
        ['(', ')'],
        ['line\n', '\nline'],
      ]) {
        expect(redact(`${before}${secret}${after}`)).toEqual({
          text: `${before}[redacted:${kind}]${after}`,
          found: [kind],
        })
      }
    },
  )

  test.each(IN_CONTEXT.map(([text, secret, left]) => ({ text, secret, left })))(
    'and the rest stays: $left',
    ({ text, secret, left }) => {
      const redacted = redact(text)
      expect(redacted.text).toBe(left)
      expect(redacted.text).not.toContain(secret)
    },
  )

  test('several in one text are all redacted, and each kind is reported once', () => {
    const all = SECRETS.map(([, secret]) => secret).join('\n')
    const { text, found } = redact(`${all}\n${all}`)
    for (const [, secret] of SECRETS) expect(text).not.toContain(secret)
    expect(found.sort()).toEqual([...new Set(SECRETS.map(([kind]) => kind))].sort())
  })

  test('an allowed text stays', () => {
    const [, secret] = SECRETS[0] ?? ['', '']
    expect(redact(`a ${secret} b`, { allow: [secret] })).toEqual({
      text: `a ${secret} b`,
      found: [],
    })
    expect(redact('password: "correcthorse"', { allow: ['correcthorse'] }).found).toEqual([])
  })

  test("a project's own pattern is redacted with any flags, but never a redaction marker", () => {
    const extra = [/ACME-\d+/, /redacted|custom/gi]
    const once = redact('a ACME-1 b ACME-22 Custom', { extra })
    expect(once).toEqual({
      text: 'a [redacted:custom] b [redacted:custom] [redacted:custom]',
      found: ['custom'],
    })
    expect(redact(once.text, { extra }).text).toBe(once.text)
  })
})

describe('a private key is redacted', () => {
  test.each(['', 'RSA ', 'EC ', 'OPENSSH ', 'ENCRYPTED '])('%j, complete', (kind) => {
    expect(redact(`a\n${privateKey(kind)}\nb`)).toEqual({
      text: 'a\n[redacted:private-key]\nb',
      found: ['private-key'],
    })
  })

  test('in quoted text with escaped line ends', () => {
    const quoted = JSON.stringify({ key: privateKey(), after: 1 })
    expect(redact(quoted).text).toBe('{"key":"[redacted:private-key]","after":1}')
  })

  test('cut off anywhere', () => {
    const key = privateKey('RSA ', 3)
    for (let length = 60; length < key.length; length += 1) {
      const { text } = redact(key.slice(0, length))
      expect(text).toMatch(/^\[redacted:private-key\]\s*-{0,5}(?:E?N?D?)?/)
      expect(text).not.toMatch(/[A-Za-z0-9+/=]{16}/)
    }
  })

  test('cut off, with text after it that stays', () => {
    const cutOff = privateKey('RSA ', 3).split('\n').slice(0, 4).join('\n')
    expect(redact(`${cutOff}\nthen we saw it fail`).text).toBe(
      '[redacted:private-key]\nthen we saw it fail',
    )
    expect(redact(`${cutOff}...\n${privateKey()}`).text).toBe(
      '[redacted:private-key]...\n[redacted:private-key]',
    )
  })

  test('with line numbers or diff signs before its lines', () => {
    const lines = privateKey('RSA ', 3).split('\n').slice(0, 4)
    for (const mark of ['+', '-', '> ', '  12→', '  7\t']) {
      expect(redact(lines.map((line) => mark + line).join('\n')).text).toBe(
        `${mark}[redacted:private-key]`,
      )
    }
  })

  test('but not a mention of its first line', () => {
    const first = privateKey().split('\n')[0] ?? ''
    const last = privateKey().split('\n').at(-1) ?? ''
    for (const text of [
      `files that start with ${first} are keys`,
      `${first}\n${last}`,
      `grep '${first}' -r .`,
    ]) {
      expect(redact(text)).toEqual({ text, found: [] })
    }
  })
})

describe('text that is not secret stays', () => {
  test.each([
    `commit ${sha} on main`,
    `${sha}${sha.slice(0, 24)}`,
    'session 550e8400-e29b-41d4-a716-446655440000',
    '/home/user/projects/app/src/token/secret-store.test.ts:12:3',
    'C:\\Users\\me\\secrets\\token.json',
    `data:image/png;base64,${scrambled(2000)}+/==`,
    `"integrity": "sha512-${scrambled(86)}=="`,
    `import { a } from './chunk-${scrambled(8)}.js'`,
    'token budget: 200000',
    'max_tokens: 200000000, input_tokens=123456789, token_count: 12345678',
    'password reset flow: implemented',
    'the password: required, the token: identifier, the secret: kubernetes',
    'pip install scikit-learn sk-learn task-0123456789abcdef0123456789abcdef',
    'npx vitest run test/git -t "token: a promise" --reporter=verbose',
    'PASSWORD=$PASS TOKEN=${TOKEN} API_KEY="$(cat key)" npm test',
    'curl -H "Authorization: Bearer $TOKEN" -H "Authorization: Bearer <token>"',
    'Authorization: Bearer YOUR_API_TOKEN',
    'bearer authentication-is-required-everywhere',
    'password: <your password>, token: xxxxxxxxxxxx, secret: "changeme", api_key: "your-api-key-here"',
    'const token = process.env.API_TOKEN ?? config.token2',
    'const apiKey = getApiKey("service1"); const secret: Uint8Array = base64Decode(value)',
    'apiKey: z.string().min(1), token: Promise<string>, password: string',
    'const token = previousToken2',
    '"password": "Bitte geben Sie ein Passwort ein"',
    '"password": "Contraseña"',
    'secret: ./config/app1.yaml, token_file=/run/secrets/token1, private_key: id_rsa1.pem',
    'token: https://example.com/oauth2/token',
    'token: step-2-review, secret: my-app-secret-2',
    'http://localhost:3000/@scope/pkg http://localhost:3000?mail=a@b.c',
    'git@github.com:owner/repo.git ssh://git@github.com:22/owner/repo',
    'postgres://user:${PASSWORD}@localhost/db postgres://user:password@host/db',
    'token expired at: 2025-01-15T10:00:00Z; token: 2025-01-15T10:00:00Z',
    'AKIA is the prefix, ghp_ too, and sk-ant- and xoxb-',
    'a.b.c MODULE.NAMED.SOMETHING_THAT_IS_RATHER_LONG_IN_ITS_LAST',
    'the keyboard: qwertyuiop1 monkey=abcdefgh1',
  ])('%s', (text) => {
    expect(redact(text)).toEqual({ text, found: [] })
  })
})

describe('redacting a JSON value', () => {
  test('strings are redacted at any depth, by shape or by field name', () => {
    const [kind, secret] = SECRETS[2] ?? ['', '']
    const value = {
      a: [`x ${secret}`, 1, null, true],
      password: 'correcthorse',
      apiKey: scrambled(20),
      token: 'identifier',
      n: { secret: 12345678 },
    }
    expect(redactDeep(value)).toEqual({
      value: {
        a: [`x [redacted:${kind}]`, 1, null, true],
        password: '[redacted:password]',
        apiKey: '[redacted:key]',
        token: 'identifier',
        n: { secret: 12345678 },
      },
      found: [kind, 'password', 'key'],
    })
  })

  test('an argument after an option that names a secret is redacted, others stay', () => {
    const args = [
      '--user',
      'hunter2hunter2',
      '--password',
      'hunter2hunter2',
      '-passphrase',
      'correcthorse',
      '--api-key',
      scrambled(20),
    ]
    const left = args
      .with(3, '[redacted:password]')
      .with(5, '[redacted:password]')
      .with(7, '[redacted:key]')
    expect(redactDeep({ command: ['tool', ...args, 'correcthorse'] }).value).toEqual({
      command: ['tool', ...left, 'correcthorse'],
    })
    const plain = [
      '-p',
      'hunter2hunter2',
      '--token',
      '--config-file2',
      '--password',
      '$PASSWORD',
      '--token-count',
      '12345abcde',
    ]
    expect(redactDeep(plain)).toEqual({ value: plain, found: [] })
    expect(
      redactDeep(['--password', 'hunter2hunter2'], { allow: ['hunter2hunter2'] }).found,
    ).toEqual([])
  })

  test('a key that looks secret is redacted, and keys that become equal keep their values', () => {
    const [kind, secret] = SECRETS[2] ?? ['', '']
    const mark = `[redacted:${kind}]`
    const value = {
      [secret]: 1,
      [`${secret}x`]: { [`in ${secret}`]: 2 },
      [mark]: 3,
      [privateKey()]: 4,
    }
    const once = redactDeep(value)
    expect(once).toEqual({
      value: {
        [`${mark}-2`]: 1,
        [`${mark}-3`]: { [`in ${mark}`]: 2 },
        [mark]: 3,
        '[redacted:private-key]': 4,
      },
      found: [kind, 'private-key'],
    })
    expect(redactDeep(once.value)).toEqual({ value: once.value, found: [] })
    expect(redactDeep({ [secret]: 1 }, { allow: [secret] }).value).toEqual({ [secret]: 1 })
  })

  test('a key that does not look secret stays, also under a broad project pattern', () => {
    const value = { 'password=hunter2hunter2': 1, input_tokens: 2, 'ACME-1': 3 }
    expect(redactDeep(value, { extra: [/ACME-\d+|token/g] }).value).toEqual({
      'password=hunter2hunter2': 1,
      input_tokens: 2,
      '[redacted:custom]': 3,
    })
  })

  test('keys stay, even unusual ones', () => {
    const value: unknown = JSON.parse('{"__proto__": {"x": "y"}, "": "z"}')
    expect(JSON.stringify(redactDeep(value).value)).toBe('{"__proto__":{"x":"y"},"":"z"}')
  })

  test('a value nested too deep is left out below the limit', () => {
    const deep: unknown = JSON.parse(`${'['.repeat(5000)}"x"${']'.repeat(5000)}`)
    expect(JSON.stringify(redactDeep(deep).value)).toContain('nested too deep')
  })

  test('any JSON value keeps its structure, and redacting again changes nothing', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const once = redactDeep(value).value
        expect(redactDeep(once).value).toEqual(once)
      }),
    )
  })
})
