// Facts stated in whole sessions, and how many of them survive in what fits into an injected text.
// The module was tuned on these two sets.
import { readFileSync } from 'node:fs'
import { Tokenizer } from 'ai-tokenizer'
import * as claude from 'ai-tokenizer/encoding/claude'
import { describe, expect, test } from 'vitest'
import { confirmStatements } from '../../src/session/statements/confirm-statements.ts'
import { mergeStatements } from '../../src/session/statements/merge-statements.ts'
import type { SpokenStatement, Statement } from '../../src/session/statements/statement.ts'
import {
  answerStatement,
  statementsFromAgent,
  statementsFromUser,
} from '../../src/session/statements/statements.ts'

const MAX_TOKENS = 1700

interface Fact {
  readonly id: string
  readonly statement: string
  readonly needs: readonly (readonly string[])[]
}

interface Step {
  readonly say?: string
  readonly ask?: { readonly question: string; readonly answer: string }
}

interface Scenario {
  readonly source: string
  readonly turns: readonly {
    readonly prompt: string
    readonly steps: readonly Step[]
    readonly reply: string
  }[]
  readonly facts: readonly Fact[]
  readonly stale: readonly Fact[]
}

const FLOORS = { user: 27, agent: 24 }
const tokenizer = new Tokenizer(claude)

describe('what fits into an injected text', () => {
  test.each([
    ['cue-free', 'user'],
    ['cue-free', 'agent'],
    ['superseded', 'user'],
    ['superseded', 'agent'],
  ] as const)('holds the facts of a session: %s, stated by the %s', (set, source) => {
    const scenario = scenariosOf(set).find((each) => each.source === source)!
    const kept = keptOf(scenario)
    const lines = mostValuable(kept)
    const text = lines.join('\n')
    const lost = scenario.facts.filter((fact) => !isIn(fact, text))
    const stale = scenario.stale.filter((fact) => lines.some((line) => isIn(fact, line)))
    // Read as one text, words of two lines can look like one outdated fact.
    const staleInAll = scenario.stale.filter((fact) => isIn(fact, text)).length
    const net = scenario.facts.length - lost.length - stale.length
    console.log(
      `${set}, ${source}: net ${net} of ${scenario.facts.length}, stale ${stale.length} (in one text ${staleInAll}) of ${scenario.stale.length}, ` +
        `${lines.length} of ${kept.length} statements` +
        lost.map((fact) => `\n  lost ${fact.id}: ${fact.statement}`).join('') +
        stale.map((fact) => `\n  stale ${fact.id}: ${fact.statement}`).join(''),
    )
    expect(net).toBeGreaterThanOrEqual(FLOORS[source])
  })
})

function scenariosOf(set: string) {
  const file = new URL(`../../bench/continuity/facts/${set}.json`, import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { scenarios: readonly Scenario[] }).scenarios
}

/** Everything that both speakers stated and that is still valid at the end. */
function keptOf({ turns }: Scenario) {
  let kept: readonly SpokenStatement[] = []
  const add = (speaker: 'user' | 'agent', statements: readonly Statement[]) => {
    kept = mergeStatements(
      kept,
      statements.map((statement) => ({ ...statement, speaker })),
    )
  }
  for (const { prompt, steps, reply } of turns) {
    kept = confirmStatements(kept, [prompt])
    add('user', statementsFromUser(prompt))
    for (const { say, ask } of steps) {
      if (say !== undefined) add('agent', statementsFromAgent(say))
      if (ask !== undefined) add('user', [answerStatement(ask.question, ask.answer)])
    }
    add('agent', statementsFromAgent(reply))
  }
  return kept
}

function mostValuable(kept: readonly SpokenStatement[]) {
  let room = MAX_TOKENS
  return kept
    .toSorted((a, b) => b.value - a.value)
    .map(({ text }) => text)
    .filter((text) => (room -= tokenizer.count(`- ${text}\n`)) >= 0)
}

function isIn({ needs }: Fact, text: string) {
  const plain = text.toLowerCase()
  return needs.every((group) => group.some((word) => plain.includes(word.toLowerCase())))
}
