import { sentencesOf, normalisePrompt } from '../../src/context/intent/phrases.ts'
import { describe, expect, test } from 'vitest'
import { isRuling, looksLikeDecision, looksLikeEnding } from '../../src/context/intent/ruling.ts'
import { CHOICE_PHRASES, RULE_PHRASES } from '../../src/session/statements/ruling-phrases.ts'

const DECIDES = [
  'use pnpm, not npm',
  'we decided to go with Redis',
  "let's go with option 2",
  'option b please',
  'instead of a queue do it in memory',
  'Use a map instead of an array',
  'the second one',
  'I prefer tabs',
  "I'd rather have one big migration",
  "Let's use zod for validation.",
  'Can you use a set instead of a list?',
  'go with the simplest thing',
  'stick to the existing error type',
  "we'll go for SQLite",
  'Take approach A.',
  'Wir haben uns für Redis entschieden.',
  'en vez de axios usa fetch',
  'utilise fetch plutôt que axios',
  '用 pnpm 而不是 npm',
  'npm ではなく pnpm を使って',
]

const RULES = [
  "don't touch the migrations",
  'Don’t touch the migrations.',
  'never commit to main',
  'Please fix the login, but do not change the schema.',
  'must not break the public API',
  'The API must stay backwards compatible.',
  'no new dependencies',
  'keep it simple: no ORM',
  'always run tests before you commit',
  'I want tabs',
  'stop using console.log',
  'from now on, commit each step by itself',
  'rule out Kafka',
  'GraphQL is out of scope',
  'Only change the CSS.',
  'avoid abstract base classes',
  'Add the endpoint without adding a dependency',
  'make sure it never blocks the event loop',
  'use tabs',
  'leave the parser alone',
  "I don't want a new config file",
  'functions should not be longer than a screen',
  'at most 3 retries',
  'Fix the sweeper. No mocks in tests.',
  'Bitte keine neuen Abhängigkeiten',
  'ne touche pas aux migrations',
  'nunca uses any',
  '不要动数据库迁移',
  'テストは変更しないで',
  'please use TypeScript',
  'make it tabs not spaces',
  'we use yarn here',
  'we will not support IE11',
  'No, use the other function',
  'nope, keep the old name',
  'no. use postgres',
  'Just use a simple loop',
  'I want it in one file',
  'It should be written in Rust',
  'I would prefer a class',
  'prefer composition',
  'Do it in Python',
  'Change of plan: Redis',
  'forget Redis',
  'forget about Redis, use Postgres',
  'skip the tests',
  'skip docs',
  'drop the cache idea',
  'let’s not use a queue',
  'ok but no abstractions',
  'Dont add comments',
  'do NOT touch main',
  'NEVER push',
  'must be backwards compatible',
  'needs to work offline',
  'has to be fast',
  'only Node 20',
  'limit it to 10 items',
  'without external libraries',
  'leave it as it is',
  'do not commit',
  'you should not edit generated files',
  'we agreed on REST',
  'REST, not GraphQL',
  'REST over GraphQL',
  'yes, option 1',
  'the former',
  'I like the second approach',
  'second approach please',
  'we can’t use GPL code',
  'stop. use the API',
  'From now on commit small',
  'always ask before deleting',
  'Remember: tests first',
  'remember to run lint',
  'Be careful not to break the API',
  'ensure no breaking changes',
]

const NO_RULING = [
  '',
  'fix the login bug',
  'add a page that lists the users',
  "don't you think that a queue would be better?",
  "why don't we use Redis?",
  'should we use Redis instead of Memcached?',
  'What happens when the lock is not held?',
  "the tests don't pass",
  "users can't log in",
  'it never returns',
  'I want to add a login page',
  'the error must be a typo somewhere',
  "I don't know why it fails",
  "we don't have tests for the parser",
  'no problem',
  'never mind',
  'show me the usage of the parser',
  'how do I use the new endpoint?',
  '/model opus',
  '<task-notification>do not stop</task-notification>',
  'continue',
  'yes',
  'why is the test failing?',
  'add a test for the parser',
  'rename foo to bar',
  'what does this function do',
  'the build fails with no such file',
  'there is no test for this',
  'I have no idea',
  'explain how hooks work',
  'it does not work',
  'it still does not work',
  'this is not what I meant',
  'tests do not pass',
  'can you explain?',
  'refactor the parser into smaller functions',
  'thanks!',
  'looks good',
  'run the tests',
  'show me the diff',
  'commit this',
  'write a README',
  'the server keeps crashing',
  'I keep getting an error',
  'make a button that says never',
  'debug why the app never starts',
  'Investigate: users cannot log in and the page does not load',
  'nothing is shown',
  'Not sure what to do',
  'is it possible to use X?',
  'users only see half of it',
  'the list only shows 10 items',
  'it always fails',
  'it must be something with the cache',
  'how about Redis?',
  'which one do you prefer?',
  'update the docs',
  'merge it',
  'use',
  'create a page to list users',
  'I want to see the logs',
  'I want you to fix the login',
]

const LOG = Array.from(
  { length: 200 },
  (_, n) =>
    `2026-01-02T03:04:${n % 60} ERROR worker ${n}: must not be called twice, use retry instead of poll`,
).join('\n')

describe('a ruling', () => {
  test.each([...DECIDES, ...RULES])('is recognised in %j', (prompt) => {
    expect(isRuling(prompt)).toBe(true)
  })

  test.each(NO_RULING)('is not recognised in %j', (prompt) => {
    expect(isRuling(prompt)).toBe(false)
  })

  test('is not found in a pasted log, a stack trace or code', () => {
    expect(isRuling(`Here is the log:\n${LOG}`)).toBe(false)
    expect(
      isRuling(
        'It crashes:\nTypeError: x must not be null\n    at use (src/a.ts:1:2)\n    at never (src/b.ts:3:4)',
      ),
    ).toBe(false)
    expect(
      isRuling(
        'What does this print?\n```js\n// never use this, always use that instead\nif (x) continue\n```',
      ),
    ).toBe(false)
  })

  test('is found before a pasted log and after it', () => {
    expect(isRuling(`Don't touch the retry logic.\n${LOG}`)).toBe(true)
    expect(isRuling(`${LOG}\nUse the pool from db.ts, not a new one.`)).toBe(true)
  })

  test('passes the word filter of each phrase wherever its pattern matches', () => {
    const sentences = [...DECIDES, ...RULES, ...NO_RULING].flatMap((prompt) =>
      sentencesOf(normalisePrompt(prompt)),
    )
    const missed = [CHOICE_PHRASES, RULE_PHRASES]
      .flatMap(Object.entries<() => RegExp>)
      .flatMap(([words, pattern]) =>
        sentences.filter(
          (sentence) =>
            pattern().test(sentence) && !words.split('|').some((word) => sentence.includes(word)),
        ),
      )
    expect(missed).toEqual([])
  })

  test('is searched for in a megabyte without delay', () => {
    for (const words of ['use x, ', 'no ', "don't ", 'a not ', 'keep '])
      isRuling(words.repeat(200_000))
    expect(isRuling('x'.repeat(1_000_000))).toBe(false)
  })
})

describe('a decision', () => {
  test.each(DECIDES)('is recognised in %j', (prompt) => {
    expect(looksLikeDecision(prompt)).toBe(true)
  })

  test.each([
    ...NO_RULING,
    "don't touch the migrations",
    'never commit to main',
    'no new dependencies',
    'always run tests',
  ])('is not recognised in %j', (prompt) => {
    expect(looksLikeDecision(prompt)).toBe(false)
  })
})

describe('the end of a conversation', () => {
  test.each([
    "that's all for today",
    'That’s it for now, thanks!',
    "let's stop here",
    'ok, stop for today',
    'done for now',
    "I'm done for the day.",
    'wrap up',
    "let's wrap this up",
    "let's call it a day",
    'bye',
    'Thanks, bye!',
    'good night',
    'see you tomorrow',
    'I have to go',
    "we'll continue tomorrow",
    'Enough for today.',
    'Looks good. That is all for now.',
    'Feierabend',
    'Das war’s für heute',
    'à demain',
    'hasta mañana',
    '今天就到这吧',
    '今日はここまで',
    "ok that's it",
    "we're done here",
    'gotta go',
    'time to wrap up',
    "let's end the session",
    "I'll be back tomorrow",
    'have a good night',
  ])('is announced by %j', (prompt) => {
    expect(looksLikeEnding(prompt)).toBe(true)
  })

  test.each([
    '',
    'wrap the text in a div',
    'when the user says bye, close the socket',
    'add a goodbye message',
    'stop the server when the test is done',
    'are we done for today?',
    'is that all?',
    'the loop should end here if x is null',
    'finish the refactoring',
    'continue',
    'the bye packet is malformed',
    '/exit',
    'done',
    'close the session object on error',
    'break here',
    'see you broke the build',
    'I am done with step 1, continue',
    'Add an endpoint that lists all sessions of today, and stop the worker when the queue is empty for an hour',
  ])('is not announced by %j', (prompt) => {
    expect(looksLikeEnding(prompt)).toBe(false)
  })
})
