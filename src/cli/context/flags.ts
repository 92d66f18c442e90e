// The few kinds of flag and argument there are, so that a command's list of flags reads as a list.
import { type CliContext, UsageError } from './context.ts'
import type { Project, SessionStatus } from '../../library.ts'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

// What the shell may offer for a name. Only looks: a key pressed in a folder without sessions leaves nothing there.

const MOST = 50
const OPEN: SessionStatus[] = ['active', 'paused']
const CLOSED: SessionStatus[] = ['completed', 'abandoned']

/** Called by the parser with the context as `this`. */
export const completions = {
  /** Names of sessions that begin so, the open ones first. */
  sessions(this: CliContext, partial: string): Promise<readonly string[]> {
    return sessionNames(this, partial, [OPEN, CLOSED])
  },

  closedSessions(this: CliContext, partial: string): Promise<readonly string[]> {
    return sessionNames(this, partial, [CLOSED])
  },

  /** Short names of tasks that begin so, the open ones first, from the names of their files. */
  tasks(this: CliContext, partial: string): Promise<readonly string[]> {
    return looking(this, async ({ tasksFolder }) => {
      const folders = ['active', 'archive']
        .map((place) => join(tasksFolder, place))
        .filter((folder) => existsSync(folder))
      const names = folders.flatMap((folder) =>
        readdirSync(folder).flatMap((name) => TASK_FILE.exec(name)?.[1] ?? []),
      )
      return [...new Set(names)].filter((name) => name.startsWith(partial)).slice(0, MOST)
    })
  },

  /** Names of delegates that begin so, those whose work is still to be settled first. */
  delegates(this: CliContext, partial: string): Promise<readonly string[]> {
    return looking(this, async ({ delegates }) => {
      const all = (await delegates.recorded()).toReversed()
      const inTurn = all.toSorted((a, b) => Number(b.isUnsettled) - Number(a.isUnsettled))
      const names = inTurn.map(({ order }) => order.name)
      return names.filter((name) => name.startsWith(partial)).slice(0, MOST)
    })
  },
}

const TASK_FILE = /^([^.].*)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.md$/

function sessionNames(
  context: CliContext,
  partial: string,
  inTurn: readonly SessionStatus[][],
): Promise<readonly string[]> {
  return looking(context, async (project) => {
    const found = new Set<string>()
    for (const status of inTurn) {
      for (const { name } of await project.list({ status })) {
        if (name.startsWith(partial)) found.add(name)
        if (found.size >= MOST) break
      }
    }
    return [...found]
  })
}

async function looking(
  context: CliContext,
  look: (project: Project) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const { openProject } = await import('./lazy-library.ts')
  const project = openProject(context.cwd, { env: context.env })
  try {
    return await look(project)
  } finally {
    project.dispose()
  }
}

export function textFlag(brief: string, placeholder = 'TEXT') {
  return { kind: 'parsed', parse: String, brief, placeholder, optional: true } as const
}

/** A flag that may be given several times. */
export function repeatedTextFlag(brief: string, placeholder = 'TEXT') {
  return { ...textFlag(brief, placeholder), variadic: true } as const
}

/** A flag whose values may also be joined by commas. */
export function listFlag(brief: string, placeholder = 'ID') {
  return { ...textFlag(brief, placeholder), variadic: ',' } as const
}

export function toggle(brief: string) {
  return { kind: 'boolean', brief, optional: true, withNegated: false } as const
}

export function numberFlag(brief: string, placeholder = 'N') {
  return { ...textFlag(brief, placeholder), parse: wholeNumber }
}

/** One of a few words, which the parser knows. */
export function enumFlag<const T extends string>(values: readonly T[], brief: string) {
  return { kind: 'enum', values, brief, optional: true } as const
}

/** A flag that is checked here and not by the parser, because our errors say more. */
export function checkedFlag<F extends object, T>(
  flag: F,
  check: (value: string, flag: string) => T,
): F & { check: typeof check } {
  return { ...flag, check }
}

/** A text that must not be empty. */
export function nonEmptyFlag(brief: string, placeholder = 'TEXT') {
  return checkedFlag(textFlag(brief, placeholder), nonEmpty)
}

/** A date, as the time it stands for. */
export function dateFlag(brief: string) {
  return checkedFlag(textFlag(brief, 'DATE'), moment)
}

export const sessionFlag = sessionNameFlag(
  'The session, by id, any unique part of it, or short name',
)

/** A flag that names a session. */
export function sessionNameFlag(brief: string) {
  return { ...textFlag(brief, 'SESSION'), proposeCompletions: completions.sessions } as const
}

/** A flag that names a task. */
export function taskNameFlag(brief: string) {
  return { ...textFlag(brief, 'ID'), proposeCompletions: completions.tasks } as const
}

type Propose = (typeof completions)[keyof typeof completions]

export function argument(brief: string, placeholder: string, proposeCompletions?: Propose) {
  return {
    parse: String as (input: string) => string,
    brief,
    placeholder,
    ...(proposeCompletions && { proposeCompletions }),
  }
}

/** An argument that may be left out. */
export function optionalArgument(brief: string, placeholder: string, proposeCompletions?: Propose) {
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

function wholeNumber(input: string): number {
  const value = Number(input)
  if (!Number.isInteger(value) || value < 0) throw new SyntaxError(`${input} is not a whole number`)
  return value
}

export function nonEmpty(value: string, flag: string): string {
  if (value.trim() === '')
    throw new UsageError(`${flag} is empty`, 'leave it out, or say something')
  return value
}

function moment(input: string): string {
  const parsed = Date.parse(input)
  if (Number.isNaN(parsed))
    throw new UsageError(
      `"${input}" is not a date`,
      'write it like 2025-01-15 or 2025-01-15T10:30Z',
    )
  return new Date(parsed).toISOString()
}

const DAYS: Readonly<Record<string, number>> = { d: 1, w: 7, m: 30, y: 365 }

/** A date, or how long ago: `90d`, `12w`. */
export function parseTimeAgo(given: string): string {
  const [, count, unit] = /^(\d{1,5})([dwmy])$/.exec(given.trim()) ?? []
  if (count !== undefined && unit !== undefined)
    return new Date(Date.now() - Number(count) * DAYS[unit]! * 86_400_000).toISOString()
  if (Number.isNaN(Date.parse(given)))
    throw new UsageError(`"${given}" is no time`, 'write it like 90d, 12w or 2025-01-15')
  return new Date(given).toISOString()
}

/** A check that takes these words only, in whatever case they are written; `refusal` says what is wrong with another. */
export function oneOfIgnoringCase<const T extends string>(
  allowed: readonly T[],
  refusal: (value: string) => string,
): (value: string) => T {
  return (value) => {
    const found = allowed.find((candidate) => candidate.toLowerCase() === value.toLowerCase())
    if (found !== undefined) return found
    throw new UsageError(refusal(value), `there are ${allowed.join(', ')}`)
  }
}

export function exactlyOneOf<const T extends string>(
  choices: readonly T[],
): (value: string, flag: string) => T {
  return (value, flag) => {
    const found = choices.find((candidate) => candidate === value)
    if (found !== undefined) return found
    throw new UsageError(`${flag} is not "${value}"`, `one of ${choices.join(', ')}`)
  }
}

export function positiveInteger(value: string, flag: string): number {
  if (!/^\d+$/.test(value) || !(Number(value) > 0))
    throw new UsageError(`${flag} is a whole number above 0, not "${value}"`)
  return Number(value)
}

/** A check for a number above 0, written like the example. */
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

const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1000, m: 1_000_000 }

export function parseTokenCount(value: string, flag: string): number {
  const [, digits = '', unit = ''] = /^(\d*\.?\d+)([km]?)$/i.exec(value) ?? []
  const count = Math.round(Number(digits) * (UNITS[unit.toLowerCase()] ?? Number.NaN))
  if (count > 0) return count
  throw new UsageError(
    `${flag} is a number of tokens above 0, not "${value}"`,
    'write it like 500000, 500k or 2M',
  )
}
