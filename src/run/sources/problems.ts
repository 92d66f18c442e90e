// What is wrong with a backlog is said all at once: whoever has to correct it does so in one go.
import { StintError } from '../../journal/errors.ts'
import { dependencyCycles } from '../../backlog/waits.ts'
import { type ForeignTask, foldForeign } from './foreign.ts'

const MOST_SHOWN = 100

/** Throws when there is any problem, so that nothing starts. */
export function refuse(name: string, problems: readonly string[]): void {
  if (problems.length === 0) return
  const shown = problems.slice(0, MOST_SHOWN).map((problem) => `  ${problem}`)
  const left = problems.length - shown.length
  const more = left === 0 ? [] : [`  … and ${left} more`]
  throw new StintError(
    'BACKLOG_INVALID',
    [`${name} cannot be worked on as it is:`, ...shown, ...more].join('\n'),
    'correct what is named above; nothing was started',
  )
}

/** Circles of tasks that wait for each other. A task waits for its parts as well. */
export function circles(
  tasks: readonly ForeignTask[],
  lineOf: ReadonlyMap<string, number>,
): readonly string[] {
  const backlog = foldForeign('', tasks)
  return dependencyCycles(backlog).map((circle) => {
    const owns = circle.map((task) => task.id.slice(1))
    const lines = [...new Set(owns.flatMap((own) => lineOf.get(own) ?? []))].toSorted(
      (a, b) => a - b,
    )
    return `${named(lines)}: each waits for the next: ${owns.join(' → ')}`
  })
}

/** `line 3`, `lines 3 and 7`. */
export function named(lines: readonly number[]): string {
  if (lines.length < 2) return `line ${lines[0]}`
  return `lines ${lines.slice(0, -1).join(', ')} and ${lines.at(-1)}`
}
