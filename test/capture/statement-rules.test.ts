import { describe, expect, test } from 'vitest'
import { confirmStatements } from '../../src/session/statements/confirm-statements.ts'
import { mergeStatements } from '../../src/session/statements/merge-statements.ts'
import type { Speaker, SpokenStatement } from '../../src/session/statements/statement.ts'
import {
  answerStatement,
  statementsFromAgent,
  statementsFromUser,
} from '../../src/session/statements/statements.ts'

const textsOf = (statements: readonly { readonly text: string }[]) =>
  statements.map(({ text }) => text)

describe('a statement of the user', () => {
  test.each([
    ['can you open job.js? the staging box only has 2 GB', ['the staging box only has 2 GB']],
    ['Continue, but never call the old endpoint.', ['never call the old endpoint.']],
    ['Use advisory rows instead of locks. Go on.', ['Use advisory rows instead of locks.']],
    ['ok, btw, the budget is 200 euros', ['the budget is 200 euros']],
    ['We considered GraphQL but decided to stay with REST.', ['decided to stay with REST.']],
    [
      "The claim is not what I told you. It's org_id, a string.",
      ["The claim is not what I told you. It's org_id, a string."],
    ],
    [
      'Der Testserver hat nur 4 GB RAM, deshalb bricht der Import ab.',
      ['Der Testserver hat nur 4 GB RAM, deshalb bricht der Import ab.'],
    ],
    [
      'Les montants sont toujours en centimes. Lance les tests.',
      ['Les montants sont toujours en centimes.'],
    ],
    [
      'El tren de publicación sale el jueves a las 16:00.',
      ['El tren de publicación sale el jueves a las 16:00.'],
    ],
    ['测试服务器只有 2 GB 内存。继续', ['测试服务器只有 2 GB 内存。']],
  ])('is kept from %j', (prompt, texts) => {
    expect(textsOf(statementsFromUser(prompt))).toEqual(texts)
  })

  test.each([
    '',
    'continue',
    'thanks, looks good!',
    'show me the diff',
    'run the tests again with --verbose',
    'Open src/app.ts and go to line 120.',
    'why does the second test fail?',
    'We could move to Kafka some day, but not now.',
    'Maybe 40 workers would be enough.',
    'What if we used Redis for this?',
    'It might be worth caching the 500 largest rows.',
    'Tom suggested MongoDB, but I said no.',
    'In my last job we used Kafka for everything.',
    'Imagine a customer with 10,000 orders opens this page.',
    'Vielleicht sollten wir irgendwann auf Postgres 16 wechseln.',
    "On pourrait passer à Kafka un jour, mais rien n'est décidé.",
    'Podríamos usar Redis más adelante.',
  ])('is not found in %j', (prompt) => {
    expect(statementsFromUser(prompt)).toEqual([])
  })

  test('has the kind that its wording shows', () => {
    const kindOf = (text: string) => statementsFromUser(text)[0]?.kind
    expect(kindOf('Never push to the branch release/9.')).toBe('rule')
    expect(kindOf('We decided to go with Postgres 16.')).toBe('decision')
    expect(kindOf('Priya owns the billing schema until 14 May.')).toBe('fact')
    expect(kindOf('Tomorrow we start with the replay of the 14 May dump.')).toBe('next')
  })

  test('is worth more with names, numbers and causes than without', () => {
    const valueOf = (text: string) => statementsFromUser(text)[0]?.value ?? 0
    const rich = valueOf('Norvik peaks at 2,400 requests because of the 9 June launch.')
    expect(rich).toBeGreaterThan(valueOf('The old parser is slow and nobody likes to touch it.'))
    expect(rich).toBeLessThanOrEqual(1)
  })

  test('of more than 300 characters loses the clauses that say least', () => {
    const [long] = statementsFromUser(
      `The export for Kestrel has to be ready at 05:30, because Lisbon opens it then, ${'and the people there are really very nice and like to talk about this and that, '.repeat(4)}and the file must stay below 40 MB.`,
    )
    expect(long!.text.length).toBeLessThanOrEqual(300)
    expect(long!.text).toMatch(/05:30.*40 MB/)
  })
})

describe('a statement of the agent', () => {
  test.each([
    'The root cause is a missing await in `syncOrders`.',
    'Of the 260 seconds, 212 went into exchange-rate lookups.',
    'Die Ursache ist ein fehlendes await in syncOrders.',
    'I left the old exporter in place because the nightly report imports it.',
  ])('is kept: %j', (message) => {
    expect(textsOf(statementsFromAgent(message))).toEqual([message])
  })

  test.each([
    'Let me look at the file.',
    'Running the tests now.',
    'Done, all 14 tests pass.',
    "I've updated `src/app.ts` and `src/server.ts` as requested.",
    'In Rust, the borrow checker guarantees that you never have two mutable references.',
    'A generator keeps its local state between calls.',
    'I would hash the first header and use that as the key.',
    'Shall I also add a test for the 3 empty cases?',
    'You mentioned that the server runs on port 8080.',
  ])('is not found in %j', (message) => {
    expect(statementsFromAgent(message)).toEqual([])
  })
})

test('an answered question is one statement with both', () => {
  expect(
    answerStatement('In which form do\namounts go into the file? ', 'Decimal comma'),
  ).toMatchObject({
    text: 'In which form do amounts go into the file? → Decimal comma',
    kind: 'decision',
  })
})

/** The statements that are valid after a conversation; lines of the agent start with `agent:`. */
function after(...messages: readonly string[]) {
  let known: readonly SpokenStatement[] = []
  for (const message of messages) {
    const speaker: Speaker = message.startsWith('agent: ') ? 'agent' : 'user'
    const statements =
      speaker === 'agent' ? statementsFromAgent(message.slice(7)) : statementsFromUser(message)
    known = mergeStatements(
      known,
      statements.map((statement) => ({ ...statement, speaker })),
    )
  }
  return textsOf(known)
}

describe('merged statements', () => {
  test('have a changed value only once', () => {
    expect(after('The retry timeout is 30 seconds.', 'no, make that 60 seconds')).toEqual([
      'The retry timeout is 60 seconds.',
    ])
    const limit = 'The worker limit of the importer is now 40, was 90.'
    expect(after('The worker limit of the importer is 90.', limit)).toEqual([limit])
    const port = 'The admin port was wrong: it is 9317.'
    expect(after('The admin port is 9090.', port)).toEqual([port])
  })

  test('keep what an outdated statement says besides', () => {
    expect(
      after(
        'The admin listener is on port 9090 with one path, /_toll/limits, read-only.',
        'I was wrong about the admin listener, it is on port 9317.',
      ),
    ).toEqual([
      'The admin listener is on port … with one path, /_toll/limits, read-only.',
      'I was wrong about the admin listener, it is on port 9317.',
    ])
  })

  test('lose a withdrawn plan, but not a fact about the same thing', () => {
    expect(
      after(
        "Let's use Redis for the session cache.",
        'Redis on staging gets flushed on Sundays.',
        'scratch the Redis idea, we stay with Postgres',
      ),
    ).toEqual([
      'Redis on staging gets flushed on Sundays.',
      'scratch the Redis idea, we stay with Postgres',
    ])
  })

  test('lose a cause that turned out to be wrong', () => {
    const found =
      'The DNS cache turned out not to be the cause of the timeout: the pool in src/pool.ts is exhausted.'
    expect(
      after('agent: The root cause of the timeout is the DNS cache in gw-3.', `agent: ${found}`),
    ).toEqual([found])
  })

  test('lose a next step that is done', () => {
    const done = 'The migration script for invoices is done: scripts/migrate.mjs moves 1,200 rows.'
    expect(
      after('Still to do: the migration script for invoices has to be written.', `agent: ${done}`),
    ).toEqual([done])
  })

  test('are not changed by a hypothesis', () => {
    const fact = 'The import job runs at 02:00 on db-3.'
    expect(after(fact, 'We could move the import job to 04:00 some day, but not now.')).toEqual([
      fact,
    ])
  })

  test('keep the word of the user against the agent', () => {
    expect(
      after('The API port is 8080.', 'agent: The API port is now 9090 in `app.json`.'),
    ).toContain('The API port is 8080.')
  })

  test('keep the same value of two things', () => {
    const plans = [
      'The standard plan has 90 tokens per bucket.',
      'The enterprise plan now has 600 tokens per bucket.',
    ]
    expect(after(...plans)).toEqual(plans)
  })

  test('say the same thing once', () => {
    expect(
      after('Never push to release/9 on Fridays.', 'On Fridays, never push to release/9.'),
    ).toHaveLength(1)
  })

  test('are at most 250 per speaker, the most valuable ones, in order', () => {
    const many = Array.from({ length: 300 }, (_, n) => ({
      text: `Tenant name${n}x uses zone${n}y`,
      kind: 'fact' as const,
      value: n < 50 ? 0.1 : 0.5,
      speaker: 'user' as const,
    }))
    expect(mergeStatements([], many)).toEqual(many.slice(50))
  })
})

describe('a statement of the agent is confirmed', () => {
  const known: readonly SpokenStatement[] = [
    { text: 'Priya owns it.', kind: 'fact', value: 0.5, speaker: 'user' },
    {
      text: 'The drain worker leaves a stale lock after SIGKILL.',
      kind: 'finding',
      value: 0.5,
      speaker: 'agent',
    },
  ]
  const confirmed = (evidence: string) =>
    confirmStatements(known, [evidence]).map(({ isConfirmed }) => isConfirmed === true)

  test('by a commit or a test about the same thing', () => {
    expect(confirmed('fix: remove the stale lock of the drain worker')).toEqual([false, true])
    expect(confirmed('fix: sort the imports')).toEqual([false, false])
  })

  test('by the agreement of the user directly after it', () => {
    expect(confirmed('yes, exactly. go on')).toEqual([false, true])
    expect(confirmed('no, look again')).toEqual([false, false])
  })
})

test('statements are searched for in hostile text without delay', () => {
  const pieces = [
    'x',
    'a.',
    'a_',
    'a/',
    '-a',
    '`a',
    '"a',
    '(',
    '. ',
    'so, ',
    'not but ',
    'the one ',
    '1,',
    'Aa',
    'a\n',
    '| ',
    '不。',
  ]
  for (const piece of pieces) {
    statementsFromUser(piece.repeat(200_000))
    statementsFromAgent(piece.repeat(200_000))
  }
})
