import { asArray, asObject } from '../text/json-fields.ts'
import { defined } from '../text/defined.ts'
import type { CommitMessage } from './commit-message.ts'
import type { FailedCommand, WorkedCommand } from './failed-command.ts'
import type { LocatedError } from './find-errors.ts'
import type { TestFailure } from './find-failures.ts'
import type { FoundVersion } from './find-versions.ts'
import type { WrittenPath } from './written-paths.ts'

/** Typed facts only: no sentence of an output becomes a decision, a rule or an instruction. */
export interface CommandObservation {
  readonly command: string
  readonly errors: readonly LocatedError[]
  readonly versions: readonly FoundVersion[]
  readonly written: readonly WrittenPath[]
  readonly removed: readonly string[]
  readonly commits: readonly CommitMessage[]
  /** Failed tests, and names of those that the output shows as passed. */
  readonly failing: readonly TestFailure[]
  readonly passing: readonly string[]
  /** The test commands that passed whole or were run in full, each as written. */
  readonly testRun?: { readonly command: string; readonly passed: boolean }
  /** The simple commands that are known to have succeeded. */
  readonly succeeded: readonly string[]
  readonly worked?: WorkedCommand
  readonly failed?: FailedCommand
}

/** From a journal, where any field may be missing or of another type. */
export function readObservation(data: Readonly<Record<string, unknown>>): CommandObservation {
  const { testRun, worked } = data
  const run = asObject(testRun)
  return {
    command: text(data.command),
    errors: objects(data.errors, ['at', 'message']),
    versions: objects(data.versions, ['subject', 'version'], ['bump']),
    written: objects(data.written, ['path'], ['change']),
    removed: texts(data.removed),
    commits: objects(data.commits, ['subject'], ['body']),
    failing: objects(data.failing, ['name'], ['detail', 'at']),
    passing: texts(data.passing),
    succeeded: texts(data.succeeded),
    ...defined({
      testRun:
        run === undefined ? undefined : { command: text(run.command), passed: run.passed === true },
      worked: objects<WorkedCommand>([worked], ['command', 'after'])[0],
    }),
  }
}

function text(value: unknown) {
  return typeof value === 'string' ? value : ''
}

function texts(value: unknown) {
  return asArray(value).filter((each): each is string => typeof each === 'string')
}

function objects<T>(
  value: unknown,
  required: readonly (keyof T & string)[],
  optional: readonly (keyof T & string)[] = [],
): readonly T[] {
  return asArray(value).flatMap((each) => {
    const fields = asObject(each)
    if (fields === undefined || required.some((name) => typeof fields[name] !== 'string')) return []
    const known = [...required, ...optional].filter((name) => typeof fields[name] === 'string')
    return [Object.fromEntries(known.map((name) => [name, fields[name]])) as T]
  })
}
