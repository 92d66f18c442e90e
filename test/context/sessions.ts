import { Story, sweepStory } from '../support/worlds.ts'

/** A session without log entries: everything was captured by hooks. */
export function noticedStory(): Story {
  const story = new Story()
  const conversation = 'c-1'
  story.add('session.renamed', { name: 'expired-cookie' })
  story.add('session.titled', { title: '' })
  story.add('goal.set', { text: '' })
  story.add('conversation.joined', { conversation, harness: 'claude', source: 'startup' })
  story.add('request.made', {
    text: 'The login page throws a 500 when the session cookie is expired, please find out why and fix it',
    conversation,
  })
  story.add('request.made', {
    text: "don't touch the migrations, and use pnpm, not npm",
    conversation,
  })
  story.add('request.made', { text: 'also renew the refresh token', conversation })
  for (const path of ['src/login.ts', 'src/cookie.ts', 'test/login.test.ts'])
    story.add('file.changed', { path })
  story.add('commit.made', { commit: '1f0c2d3e4b5a', subject: 'cookie: parse the time of expiry' })
  story.add('commit.made', {
    commit: '9a8b7c6d5e4f',
    subject: 'login: an expired cookie is renewed',
  })
  story.add('test.ran', { command: 'pnpm test cookie', passed: true, summary: '9 passed' })
  story.add('test.ran', {
    command: 'pnpm test login',
    passed: false,
    summary: '2 failed, 14 passed',
  })
  const done = story.add('step.added', { text: 'Reproduce the 500', plan: conversation })
  story.add('step.done', { step: done })
  const current = story.add('step.added', {
    text: 'Renew the cookie when it is expired',
    plan: conversation,
  })
  story.add('step.started', { step: current })
  story.add('step.added', { text: 'Cover it with a test', plan: conversation })
  story.add('agent.finished', {
    agent: 'a-1',
    task: 'review the diff',
    result: 'two findings: a null check, a name',
    conversation,
  })
  story.add('turn.ended', {
    conversation,
    said: 'The cookie is renewed; one test still fails because the clock is mocked. Shall I go on?',
    failure: 'API error: overloaded',
  })
  return story
}

/** The example of the format after weeks of work: much of everything. */
export function longStory(): Story {
  const story = sweepStory()
  for (let n = 1; n <= 12; n += 1) {
    story.add('decision.made', {
      title: `Keep queue ${n} in memory`,
      choice: `A ring buffer of ${n * 100} places`,
      rationale: `the broker loses messages when node ${n} restarts`,
    })
    story.add('discovery.made', {
      text: `Watcher ${n} holds its lock while it waits for block ${n * 1000}`,
    })
    story.add('progress.made', { text: `Moved subscriber ${n} to the new event bus` })
    story.add('request.made', {
      text: `Please move subscriber ${n} over as well`,
      conversation: 'c-1',
    })
    story.add('file.changed', { path: `sweep/subscriber_${n}.go` })
    story.add('commit.made', {
      commit: `c0ffee${n}${n}`,
      subject: `sweep: subscriber ${n} listens to the bus`,
    })
    story.add('test.ran', {
      command: `go test ./sweep -run TestSubscriber${n}`,
      passed: n % 3 !== 0,
      summary: `${n} ran`,
    })
    story.add('step.added', { text: `Move subscriber ${n + 12} to the bus` })
  }
  story.add('request.made', {
    text: 'No new dependencies, ever.',
    conversation: 'c-1',
  })
  story.add('blocker.raised', { text: 'The staging node is down until Monday' })
  story.add('turn.ended', {
    conversation: 'c-1',
    said: 'Subscriber 12 is moved; the watcher test still flakes.',
  })
  return story
}

/** Thirty pinned facts of about a hundred characters each. */
export const FACTS = Array.from({ length: 30 }, (_, n) => {
  const kinds = [
    `Lock ordering in shard ${n}: the watcher takes its lock before the sweeper, the reverse deadlocks under load`,
    `Test command ${n}: \`go test -v -run TestSweep${n} ./itest\` needs the regtest backend on port ${18443 + n}`,
    `The retry limit of module ${n} lives in src/module-${n}/limits.ts and is ${n * 10}; quota tests rely on it`,
    `Customer ${n} must never see the raw error; wrap it with userFacing() in api/errors.go before returning`,
    `Migration 2025${String(n).padStart(2, '0')} is applied in production already, so it has to stay byte for byte as it is`,
  ]
  return kinds[n % kinds.length]!
})

export function pinnedStory(): Story {
  const story = sweepStory()
  for (const text of FACTS) story.add('key.added', { text })
  story.add('decision.made', {
    title: 'Redis over Memcached',
    rationale: 'the queue has to survive a restart',
  })
  story.add('decision.made', { title: 'Use pnpm', rationale: 'the workspace is made with it' })
  return story
}

/** More stable content than there is room for. */
export function crowdedStory(): Story {
  const story = longStory()
  for (let n = 0; n < 10; n += 1)
    for (const fact of FACTS) story.add('key.added', { text: `${n}: ${fact}` })
  for (let n = 0; n < 40; n += 1)
    story.add('request.made', {
      text: `Never do thing ${n} again`,
      conversation: 'c-1',
    })
  return story
}
