// The kinds of flags and arguments that commands use.
import { type CliContext, UsageError } from './context.ts'
import type { SessionStatus } from '../../library.ts'
import type { Project } from '../../core.ts'
import { join } from 'node:path'
import { listFolder } from '../../core.ts'

// Completions for names. Read-only: completing in a folder without sessions creates nothing there.

const MAX_COMPLETIONS = 50
const OPEN_STATUSES: SessionStatus[] = ['active', 'paused']
const CLOSED_STATUSES: SessionStatus[] = ['completed', 'abandoned']

/** The parser calls these with the context as `this`. */
export const completions = {
  /** Session names with this prefix, open ones first. */
  sessions(this: CliContext, partial: string): Promise<readonly string[]> {
    return sessionNames(this, partial, [OPEN_STATUSES, CLOSED_STATUSES])
  },

  closedSessions(this: CliContext, partial: string): Promise<readonly string[]> {
    return sessionNames(this, partial, [CLOSED_STATUSES])
  },

  /** Short names of tasks with this prefix, open ones first, read from the file names. */
  tasks(this: CliContext, partial: string): Promise<readonly string[]> {
    return withProject(this, async ({ tasksFolder }) => {
      const folders = ['active', 'archive'].map((folder) => join(tasksFolder, folder))
      const names = folders.flatMap((folder) =>
        listFolder(folder).flatMap((name) => TASK_FILE.exec(name)?.[1] ?? []),
      )
      return [...new Set(names)]
        .filter((name) => name.startsWith(partial))
        .slice(0, MAX_COMPLETIONS)
    })
  },

  /** Delegate names with this prefix, unfinished ones first. */
  delegates(this: CliContext, partial: string): Promise<readonly string[]> {
    return withProject(this, async ({ delegates }) => {
      const all = (await delegates.recorded()).toReversed()
      const unfinishedFirst = all.toSorted((a, b) => Number(b.isUnsettled) - Number(a.isUnsettled))
      const names = unfinishedFirst.map(({ order }) => order.name)
      return names.filter((name) => name.startsWith(partial)).slice(0, MAX_COMPLETIONS)
    })
  },
}

const TASK_FILE = /^([^.].*)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.md$/

function sessionNames(
  context: CliContext,
  partial: string,
  statusGroups: readonly SessionStatus[][],
): Promise<readonly string[]> {
  return withProject(context, async (project) => {
    const names = new Set<string>()
    for (const status of statusGroups) {
      for (const { name } of await project.list({ status })) {
        if (name.startsWith(partial)) names.add(name)
        if (names.size >= MAX_COMPLETIONS) break
      }
    }
    return [...names]
  })
}

async function withProject(
  context: CliContext,
  read: (project: Project) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const { openProject } = await import('./lazy-library.ts')
  const project = openProject(context.cwd, { env: context.env })
  try {
    return await read(project)
  } finally {
    project.dispose()
  }
}

export function textFlag(brief: string, placeholder = 'TEXT') {
  return { kind: 'parsed', parse: String, brief, placeholder, optional: true } as const
}

export function repeatedTextFlag(brief: string, placeholder = 'TEXT') {
  return { ...textFlag(brief, placeholder), variadic: true } as const
}

/** May be repeated, and its values may be joined by commas. */
export function listFlag(brief: string, placeholder = 'ID') {
  return { ...textFlag(brief, placeholder), variadic: ',' } as const
}

export function toggle(brief: string) {
  return { kind: 'boolean', brief, optional: true, withNegated: false } as const
}

export function numberFlag(brief: string, placeholder = 'N') {
  return { ...textFlag(brief, placeholder), parse: parseWholeNumber }
}

/** Validated by the parser itself. */
export function enumFlag<const T extends string>(values: readonly T[], brief: string) {
  return { kind: 'enum', values, brief, optional: true } as const
}

/** Checked here and not by the parser, because our errors say more. */
export function checkedFlag<F extends object, T>(
  flag: F,
  check: (value: string, flag: string) => T,
): F & { check: typeof check } {
  return { ...flag, check }
}

export function nonEmptyFlag(brief: string, placeholder = 'TEXT') {
  return checkedFlag(textFlag(brief, placeholder), nonEmpty)
}

export function dateFlag(brief: string) {
  return checkedFlag(textFlag(brief, 'DATE'), parseDate)
}

export const sessionFlag = sessionNameFlag(
  'The session, by id, any unique part of it, or short name',
)

export function sessionNameFlag(brief: string) {
  return { ...textFlag(brief, 'SESSION'), proposeCompletions: completions.sessions } as const
}

export function taskNameFlag(brief: string) {
  return { ...textFlag(brief, 'ID'), proposeCompletions: completions.tasks } as const
}

type Completion = (typeof completions)[keyof typeof completions]

export function argument(brief: string, placeholder: string, proposeCompletions?: Completion) {
  return {
    parse: String as (input: string) => string,
    brief,
    placeholder,
    ...(proposeCompletions && { proposeCompletions }),
  }
}

export function optionalArgument(
  brief: string,
  placeholder: string,
  proposeCompletions?: Completion,
) {
  return { ...argument(brief, placeholder, proposeCompletions), optional: true } as const
}

export function optionalSessionArgument(brief: string) {
  return optionalArgument(brief, 'SESSION', completions.sessions)
}

export const taskArgument = argument(
  'The task, by id, part of it, or short name',
  'ID',
  completions.tasks,
)

function parseWholeNumber(input: string): number {
  const value = Number(input)
  if (!Number.isInteger(value) || value < 0) throw new SyntaxError(`${input} is not a whole number`)
  return value
}

export function nonEmpty(value: string, flag: string): string {
  if (value.trim() === '')
    throw new UsageError(`${flag} is empty`, 'leave it out, or say something')
  return value
}

function parseDate(input: string): string {
  const parsed = Date.parse(input)
  if (Number.isNaN(parsed))
    throw new UsageError(
      `"${input}" is not a date`,
      'write it like 2025-01-15 or 2025-01-15T10:30Z',
    )
  return new Date(parsed).toISOString()
}

const DAYS_PER_UNIT: Readonly<Record<string, number>> = { d: 1, w: 7, m: 30, y: 365 }

/** A date, or a time ago: `90d`, `12w`. */
export function parseTimeAgo(input: string): string {
  const [, count, unit] = /^(\d{1,5})([dwmy])$/.exec(input.trim()) ?? []
  if (count !== undefined && unit !== undefined)
    return new Date(Date.now() - Number(count) * DAYS_PER_UNIT[unit]! * 86_400_000).toISOString()
  if (Number.isNaN(Date.parse(input)))
    throw new UsageError(`"${input}" is no time`, 'write it like 90d, 12w or 2025-01-15')
  return new Date(input).toISOString()
}

/** `refusal` is the error for any other word. */
export function oneOfIgnoringCase<const T extends string>(
  allowed: readonly T[],
  refusal: (value: string) => string,
): (value: string) => T {
  return (value) => {
    const names = allowed.find((candidate) => candidate.toLowerCase() === value.toLowerCase())
    if (names !== undefined) return names
    throw new UsageError(refusal(value), `there are ${allowed.join(', ')}`)
  }
}

export function exactlyOneOf<const T extends string>(
  choices: readonly T[],
): (value: string, flag: string) => T {
  return (value, flag) => {
    const names = choices.find((candidate) => candidate === value)
    if (names !== undefined) return names
    throw new UsageError(`${flag} is not "${value}"`, `one of ${choices.join(', ')}`)
  }
}

export function positiveInteger(value: string, flag: string): number {
  if (!/^\d+$/.test(value) || !(Number(value) > 0))
    throw new UsageError(`${flag} is a whole number above 0, not "${value}"`)
  return Number(value)
}

/** `example` is for the hint. */
export function positiveNumber(example: string): (value: string, flag: string) => number {
  return (value, flag) => {
    if (!/^\d*\.?\d+$/.test(value) || !(Number(value) > 0))
      throw new UsageError(
        `${flag} is a number above 0, not "${value}"`,
        `write it like ${example}`,
      )
    return Number(value)
  }
}

const TOKENS_PER_UNIT: Readonly<Record<string, number>> = { '': 1, k: 1000, m: 1_000_000 }

export function parseTokenCount(value: string, flag: string): number {
  const [, digits = '', unit = ''] = /^(\d*\.?\d+)([km]?)$/i.exec(value) ?? []
  const count = Math.round(Number(digits) * (TOKENS_PER_UNIT[unit.toLowerCase()] ?? Number.NaN))
  if (count > 0) return count
  throw new UsageError(
    `${flag} is a number of tokens above 0, not "${value}"`,
    'write it like 500000, 500k or 2M',
  )
}
