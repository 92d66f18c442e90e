import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { NO_OBSERVATIONS, mergeObservations } from '../../src/command/merge-observations.ts'
import { observationLines } from '../../src/command/observation-lines.ts'
import { observeCommand } from '../../src/command/observe-command.ts'
import type { FailedCommand } from '../../src/command/failed-command.ts'
import { scratchFolder } from '../support/scratch.ts'

interface Fact {
  readonly id: string
  readonly statement: string
  readonly needs: readonly (readonly string[])[]
}

interface Scenario {
  readonly source: string
  readonly files: Readonly<Record<string, string>>
  readonly turns: readonly { readonly steps: readonly { readonly run?: string }[] }[]
  readonly facts: readonly Fact[]
  readonly stale: readonly Fact[]
}

export function toolScenario(set: string): Scenario {
  const path = join(import.meta.dirname, '../../bench/continuity/facts', `${set}.json`)
  const { scenarios } = JSON.parse(readFileSync(path, 'utf8')) as { scenarios: readonly Scenario[] }
  return scenarios.find(({ source }) => source === 'tool')!
}

/** Runs the commands in a new repository; the lines that the observations give at the end. */
export function observedLines({ files, turns }: Scenario): readonly string[] {
  const cwd = scratchFolder()
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true })
    writeFileSync(join(cwd, path), text)
  }
  const env = {
    PATH: process.env.PATH,
    HOME: cwd,
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@example.org',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@example.org',
  }
  const run = (command: string) => {
    const { stdout, stderr, status } = spawnSync('bash', ['-c', command], {
      cwd,
      env,
      encoding: 'utf8',
    })
    return { output: stdout + stderr, isError: status !== 0 }
  }
  run('git init -qb main && git add -A && git commit -qm start')
  let known = NO_OBSERVATIONS
  let failed: readonly FailedCommand[] = []
  for (const command of turns.flatMap(({ steps }) =>
    steps.flatMap(({ run: each }) => each ?? []),
  )) {
    const next = observeCommand({ command, ...run(command), cwd }, failed)
    known = mergeObservations(known, next)
    if (next.failed !== undefined) failed = [...failed, next.failed].slice(-8)
  }
  return observationLines(known)
}

/** A fact counts only if one line has all that it needs. */
export function factsIn(facts: readonly Fact[], lines: readonly string[]): readonly Fact[] {
  const texts = lines.map((line) => line.toLowerCase())
  return facts.filter(({ needs }) =>
    texts.some((text) =>
      needs.every((alternatives) => alternatives.some((each) => text.includes(each.toLowerCase()))),
    ),
  )
}
