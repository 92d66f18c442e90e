import type { RawEntry } from '../../session/in-effect.ts'
import type { SessionState } from '../../session/state.ts'
import type { VerifyCommand } from './facts.ts'
import { probeTestRun } from './probes/test-run.ts'
import type { Surroundings } from './probes/surroundings.ts'

const RUNS = 3

/**
 * How to see whether the work is well: the commands that somebody named, else those that were seen to run tests, the
 * failing ones first.
 */
export function verifyClaims(
  now: Surroundings,
  entries: readonly RawEntry[],
  state: SessionState,
  named: readonly (string | undefined)[],
): readonly VerifyCommand[] {
  const changed = state.changedFiles.items.map(({ text }) => text)
  const given = named.filter(
    (command) => command !== undefined && command !== '',
  ) as readonly string[]
  const newest = state.tests.items.toReversed()
  const seen = [
    ...newest.filter((run) => !run.passed),
    ...newest.filter((run) => run.passed),
  ].slice(0, RUNS)
  const failing = seen.filter((run) => !run.passed).map(({ text }) => text)
  const commands = given.length > 0 ? [...given, ...failing] : seen.map(({ text }) => text)
  return [...new Set(commands)].map((command) => {
    const run = state.tests.items.findLast(({ text }) => text === command)
    const said = run?.summary === undefined ? '' : `: ${run.summary}`
    const lastRun = run === undefined ? '' : `${run.passed ? 'passed' : 'FAILED'}${said}`
    return { command, lastRun, verdict: probeTestRun(now, command, entries, changed) }
  })
}
