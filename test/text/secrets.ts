// Secrets are assembled from fragments, so that no secret scanner finds one in these files.

const ALPHABET = 'aB3dE5gH7jK9mN1pQ2sT4vW6yZ8cF0xR'

/** Random-looking characters that are the same each time. */
export function scrambled(length: number, from = ALPHABET): string {
  return Array.from({ length }, (_, i) => from[(i * 7 + (i >> 3)) % from.length]).join('')
}

const hex = (length: number) => scrambled(length, '0a1b2c3d4e5f6789')
const upper = (length: number) => scrambled(length, 'ABC2DEF3GHJ4KLM5')
const join = (...parts: string[]) => parts.join('')

/** One of each kind, without text around it. */
export const SECRETS: readonly (readonly [kind: string, secret: string])[] = [
  ['aws-key-id', join('AK', 'IA', upper(16))],
  ['aws-key-id', join('AS', 'IA', upper(16))],
  ['github-token', join('gh', 'p_', scrambled(36))],
  ['github-token', join('gh', 's_', scrambled(36))],
  ['github-token', join('github', '_pat_', scrambled(22), '_', scrambled(59))],
  ['gitlab-token', join('gl', 'pat-', scrambled(20))],
  ['slack-token', join('xo', 'xb-', '123456789012-', scrambled(24))],
  ['slack-token', join('xa', 'pp-1-', upper(11), '-', hex(40))],
  ['stripe-key', join('sk', '_live_', scrambled(24))],
  ['stripe-key', join('rk', '_test_', scrambled(24))],
  ['google-api-key', join('AI', 'za', scrambled(35))],
  ['google-oauth', join('GOC', 'SPX-', scrambled(28))],
  ['anthropic-key', join('sk', '-ant-', 'api03-', scrambled(90), '-', scrambled(6))],
  ['openai-key', join('sk', '-', scrambled(48))],
  ['openai-key', join('sk', '-proj-', scrambled(40), '_', scrambled(40))],
  ['npm-token', join('np', 'm_', scrambled(36))],
  ['pypi-token', join('py', 'pi-', 'AgE', scrambled(60))],
  ['huggingface-token', join('h', 'f_', scrambled(34))],
  ['sendgrid-key', join('S', 'G.', scrambled(22), '.', scrambled(43))],
  ['twilio-key', join('S', 'K', hex(32))],
  ['discord-token', join('M', scrambled(23), '.', scrambled(6), '.', scrambled(27))],
  ['telegram-token', join('123456789', ':A', 'A', scrambled(33))],
  ['digitalocean-token', join('do', 'p_v1_', hex(64))],
  ['vault-token', join('hv', 's.', scrambled(24))],
  ['jwt', join('ey', 'J', scrambled(20), '.', 'ey', 'J', scrambled(40), '.', scrambled(43))],
  ['age-key', join('AGE-SECRET', '-KEY-1', upper(58))],
  ['api-key', join('gs', 'k_', scrambled(52))],
]

const body = (lines: number) =>
  Array.from({ length: lines }, (_, i) => scrambled(64, `${ALPHABET}${i}+/`)).join('\n')

export const privateKey = (kind = 'RSA ', lines = 5) =>
  join(
    '-----BEGIN ',
    kind,
    'PRIVATE',
    ' KEY-----\n',
    body(lines),
    '\n',
    scrambled(9),
    '=\n-----END ',
    kind,
    'PRIVATE',
    ' KEY-----',
  )

/** A text around a secret, the secret itself, and what has to be left of the text. */
export const IN_CONTEXT: readonly (readonly [text: string, secret: string, left: string])[] = [
  context((s) => `aws_${'secret'}_access_key = ${s}`, scrambled(40), 'aws-secret'),
  context((s) => `{"Secret${'AccessKey'}":"${s}"}`, scrambled(40), 'aws-secret'),
  context(
    (s) => `https://hooks.slack.com/services/${s}`,
    join('T0', upper(9), '/B0', upper(9), '/', scrambled(24)),
    'slack-webhook',
  ),
  context(
    (s) => `https://discord.com/api/webhooks/123456789012345678/${s}`,
    scrambled(68),
    'discord-webhook',
  ),
  context(
    (s) => `AccountName=x;AccountKey=${s};EndpointSuffix=y`,
    join(scrambled(86), '=='),
    'azure-key',
  ),
  context((s) => `git clone https://user:${s}@example.com/x.git`, scrambled(12), 'password'),
  context((s) => `DATABASE=postgres://app:${s}@db.internal:5432/app?x=1`, 'p@ss:w0rd!', 'password'),
  context((s) => `mysql://app:${s}@db/app`, 'slash/in/it', 'password'),
  context((s) => `redis://:${s}@cache:6379/0`, 'letmeinplease', 'password'),
  context((s) => `curl -H "Authorization: Bearer ${s}" https://x`, scrambled(32), 'authorization'),
  context(
    (s) => `{\\"authorization\\": \\"Basic ${s}\\"}`,
    'dXNlcjpwYXNzd29yZA==',
    'authorization',
  ),
  context((s) => `it sent bearer ${s} along`, scrambled(24), 'authorization'),
  context((s) => `DB_PASSWORD=${s}`, 'correcthorse', 'password'),
  context((s) => `password: "${s}"`, 'correct-horse', 'password'),
  context((s) => `password: ${s}, user: x`, 'tr0ub4dor', 'password'),
  context((s) => `?user=x&password=${s}&y=1`, 'correcthorse', 'password'),
  context((s) => `{"client_secret": "${s}", "a": 1}`, scrambled(24), 'secret'),
  context((s) => `{\\"client_secret\\":\\"${s}\\",\\"a\\":1}`, scrambled(24), 'secret'),
  context((s) => `const apiKey = '${s}';`, scrambled(20), 'key'),
  context((s) => `X-Api-Key: ${s}`, hex(32), 'key'),
  context((s) => `SECRET_KEY_BASE=${s}`, hex(64), 'secret'),
  context((s) => `ENV['ACCESS_TOKEN'] = "${s}"`, scrambled(20), 'token'),
  context(
    (s) => `//registry.npmjs.org/:_authToken=${s}`,
    '550e8400-e29b-41d4-a716-446655440000',
    'token',
  ),
  context((s) => `tool --api-token ${s} --verbose`, scrambled(20), 'token'),
  context((s) => `the token is this. token: ${s}. Then it ran.`, scrambled(20), 'token'),
  context((s) => `token="${s}"`, scrambled(700), 'token'),
  context((s) => `token=${s}`, scrambled(700), 'token'),
  context((s) => `password: api_key: ${s}`, scrambled(24), 'key'),
]

function context(around: (secret: string) => string, secret: string, kind: string) {
  return [around(secret), secret, around(`[redacted:${kind}]`)] as const
}
