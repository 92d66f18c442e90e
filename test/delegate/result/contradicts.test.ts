import { describe, expect, test } from 'vitest'
import { type DecisionText, contradicts } from '../../../src/run/merge/contradictions.ts'

const d = (title: string, choice?: string, more: Partial<DecisionText> = {}): DecisionText => ({
  title,
  ...(choice === undefined ? {} : { choice }),
  ...more,
})

const CONTRADICTING: readonly (readonly [DecisionText, DecisionText])[] = [
  [d('Session store', 'Redis'), d('Session store', 'Postgres')],
  [d('Session store', 'Redis'), d('Where sessions are stored', 'in the database')],
  [
    d('Where to keep sessions', 'Redis', { options: 'Redis, Postgres' }),
    d('Session storage', 'PostgreSQL', { options: 'Postgres; Redis' }),
  ],
  [d('Use Redis for sessions'), d('Use Postgres for sessions')],
  [
    d('Use Redis over Postgres for sessions'),
    d('Session table', 'Postgres', { context: 'sessions must survive a restart' }),
  ],
  [d('Token transport', 'JWT in a cookie'), d('Token transport', 'JWT in local storage')],
  [d('Request timeout', '30 seconds'), d('Timeout of a request', '60 seconds')],
  [
    d('Retries of the mailer', 'retry 3 times with backoff'),
    d('Mailer retries', 'retry 5 times with backoff'),
  ],
  [d('Error format of the API', 'problem+json'), d('API error format', 'plain text lines')],
  [d('Test runner', 'vitest', { options: 'vitest, jest' }), d('Runner of the unit suite', 'jest')],
  [
    d('Password hashing', 'argon2id'),
    d('Hashing of passwords', 'bcrypt', { options: 'bcrypt or scrypt' }),
  ],
  [d('Language of the worker', 'Go'), d('Worker language', 'Rust')],
  [d('Cache of rates', 'no cache'), d('Cache of rates', 'cache')],
  [d('Feature flags', 'on by default'), d('Feature flags', 'off by default')],
  [
    d('Id format', 'uuid v4', { options: 'uuid v4 | uuid v7 | serial' }),
    d('Format of ids', 'uuid v7'),
  ],
  [d('Package manager', 'pnpm'), d('Package manager', 'npm')],
  [d('Cache exchange rates'), d('Do not cache exchange rates')],
  [d('Retry the mailer 3 times on failure'), d('Retry the mailer 5 times on failure')],
]

const AGREEING: readonly (readonly [DecisionText, DecisionText])[] = [
  [d('Session store', 'Redis'), d('Session store', 'redis')],
  [d('Session store', 'Redis'), d('Where sessions are stored', 'in Redis 7 with AOF')],
  [d('Session store', 'Postgres'), d('Session store', 'PostgreSQL')],
  [d('Use Redis for sessions'), d('Use Redis for rate limits')],
  [d('Use Redis for sessions'), d('Use Postgres for audit logs')],
  [
    d('Session store', 'Redis', { options: 'Redis, Postgres' }),
    d('Store of audit logs', 'Postgres', { options: 'Redis, Postgres, S3' }),
  ],
  [d('Cache', 'Redis'), d('Cache key format', 'hash of the query')],
  [d('Naming', 'camelCase for functions'), d('Naming', 'kebab-case for files')],
  [
    d('Naming', 'camelCase', { context: 'exported helpers of the parser' }),
    d('Naming', 'kebab-case', { context: 'migration folders on disk' }),
  ],
  [d('Password hashing', 'argon2id'), d('Password length', 'at least 12 characters')],
  [d('Keep the parser hand-written'), d('Split the renderer by section')],
  [d('Token lifetime', '15 minutes'), d('Lifetime of tokens', '15 minutes, renewed on use')],
  [
    d('Log format', 'JSON', { options: 'JSON, logfmt' }),
    d('Configuration format', 'YAML', { options: 'JSON, YAML, TOML' }),
  ],
  [
    d('Retry policy', 'exponential backoff'),
    d('Retry policy', 'backoff, exponential, with jitter'),
  ],
  [d('Test runner', 'vitest'), d('Test data', 'factories')],
  [d('Use HTTP-only cookies'), d('Cookies', 'HTTP-only cookies')],
  [d('Timeout', '30 s for uploads'), d('Timeout', '5 s for reads')],
  [d('Schema of users'), d('Schema of orders')],
  [d('', ''), d('', '')],
  [d('Error format of the API', 'problem+json'), d('Date format of the export', 'ISO 8601')],
]

/** Decisions of one project, phrased as agents do. */
const PROJECT: readonly DecisionText[] = [
  d('Use append-only log for the journal', 'append-only JSONL', {
    options: 'SQLite, JSONL, LMDB',
    context: 'the journal must survive a crash',
  }),
  d('Index of sessions', 'SQLite', {
    options: 'SQLite, in-memory scan',
    context: 'listing must be fast',
  }),
  d('Format of records', 'JSON with a checksum', { options: 'JSON, protobuf, CBOR' }),
  d('Format of the state file', 'TOON', { options: 'JSON, YAML, TOON' }),
  d('How conflicts are merged', 'three-way difference', { options: 'last writer wins, three-way' }),
  d('Where worktrees live', 'state home', { options: '.sessions, state home, /tmp' }),
  d('Where the configuration lives', '.sessions/config.yaml', {
    options: 'package.json, .sessions/config.yaml',
  }),
  d('Retry on network errors', '3 times', { context: 'the provider drops connections' }),
  d('Retry on failing tests', 'never', { context: 'a flaky test hides a bug' }),
  d('Timeout of hooks', '2 seconds'),
  d('Timeout of verify', '10 minutes'),
  d('Use vitest for unit tests'),
  d('Use Playwright for end-to-end tests'),
  d('Use a guardian process instead of a pid file'),
  d('Use hard links for the second name of a log'),
  d('Keep the parser hand-written', undefined, { context: 'a generator is too slow to load' }),
  d('Keep comments in the document'),
  d('Split the fold by subject'),
  d('Error handling in commands', 'typed errors with a hint'),
  d('Error handling in hooks', 'never throw, keep the trouble'),
  d('Password hashing', 'argon2id', { options: 'bcrypt, argon2id' }),
  d('Token signing', 'ed25519', { options: 'HS256, ed25519' }),
  d('Cache of the survey', 'by the listing of git'),
  d('Cache of prices', 'none'),
  d('Naming of branches', 'stint/SESSION/TASK'),
  d('Naming of tests', 'promises in the present tense'),
]

const named = (pairs: typeof CONTRADICTING) =>
  pairs.map(
    ([a, b]) => [`${a.title}: ${a.choice ?? '–'}`, `${b.title}: ${b.choice ?? '–'}`, a, b] as const,
  )

describe('of two decisions', () => {
  test.each(named(CONTRADICTING))('“%s” and “%s” contradict each other', (_a, _b, a, b) => {
    expect([contradicts(a, b), contradicts(b, a)]).toEqual([true, true])
  })

  test.each(named(AGREEING))('“%s” and “%s” are compatible', (_a, _b, a, b) => {
    expect([contradicts(a, b), contradicts(b, a)]).toEqual([false, false])
  })

  test('about different things none contradict each other', () => {
    const alarms = PROJECT.flatMap((a, index) =>
      PROJECT.slice(index + 1)
        .filter((b) => contradicts(a, b))
        .map((b) => `${a.title} / ${b.title}`),
    )
    expect(alarms).toEqual([])
  })
})
