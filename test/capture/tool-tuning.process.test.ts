import { expect, test } from 'vitest'
import { factsIn, observedLines, toolScenario } from './tool-scenario.ts'

/** Facts found, less those that no longer hold. */
const FLOORS = { 'cue-free': 30, superseded: 29 } as const

test.each(Object.entries(FLOORS))('finds the facts of the commands in %s', (set, floor) => {
  const scenario = toolScenario(set)
  const lines = observedLines(scenario)
  const found = factsIn(scenario.facts, lines)
  const stale = factsIn(scenario.stale, lines)
  const missing = scenario.facts.filter((fact) => !found.includes(fact))
  console.log(
    [
      `${set}: ${found.length} of ${scenario.facts.length} facts, ${stale.length} stale, ${lines.length} lines, ${lines.join('\n').length} characters`,
      ...missing.map(({ id, statement }) => `missing ${id}: ${statement}`),
      ...stale.map(({ id, statement }) => `stale ${id}: ${statement}`),
      ...(process.env.SHOW_LINES === undefined ? [] : lines),
    ].join('\n'),
  )
  expect(found.length - stale.length).toBeGreaterThanOrEqual(floor)
})
