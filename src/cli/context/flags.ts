// The few kinds of flag there are, so that a command's list of flags reads as a list.
import { propose } from './propose.ts'
import { Misuse } from './errors.ts'

export function text(brief: string, placeholder = 'TEXT') {
  return { kind: 'parsed', parse: String, brief, placeholder, optional: true } as const
}

/** A flag that may be given several times. */
export function texts(brief: string, placeholder = 'TEXT') {
  return {
    kind: 'parsed',
    parse: String,
    brief,
    placeholder,
    optional: true,
    variadic: true,
  } as const
}

/** A flag whose values may also be joined by commas. */
export function list(brief: string, placeholder = 'ID') {
  return {
    kind: 'parsed',
    parse: String,
    brief,
    placeholder,
    optional: true,
    variadic: ',',
  } as const
}

export function toggle(brief: string) {
  return { kind: 'boolean', brief, optional: true, withNegated: false } as const
}

export function number(brief: string, placeholder = 'N') {
  return { kind: 'parsed', parse: wholeNumber, brief, placeholder, optional: true } as const
}

export const json = toggle('Print the result as JSON')
export const session = sessionName('The session, by id, any unique part of it, or short name')

/** A flag that names a session. */
export function sessionName(brief: string) {
  return { ...text(brief, 'SESSION'), proposeCompletions: propose.sessions } as const
}

/** A flag that names a task. */
export function taskName(brief: string) {
  return { ...text(brief, 'ID'), proposeCompletions: propose.tasks } as const
}

/** An argument that may be left out. */
export function optionalName(brief: string, placeholder: string) {
  return {
    kind: 'tuple',
    parameters: [{ parse: String, brief, placeholder, optional: true }],
  } as const
}

export function optionalSession(brief: string) {
  const parameter = {
    parse: String,
    brief,
    placeholder: 'SESSION',
    optional: true,
    proposeCompletions: propose.sessions,
  } as const
  return { kind: 'tuple', parameters: [parameter] } as const
}

function wholeNumber(input: string): number {
  const value = Number(input)
  if (!Number.isInteger(value) || value < 0) throw new SyntaxError(`${input} is not a whole number`)
  return value
}

/** An argument that names a task. */
export const taskArgument = {
  parse: String,
  brief: 'The task, by id, part of it, or short name',
  placeholder: 'ID',
  proposeCompletions: propose.tasks,
} as const

/** A date as a person types it, as the time it stands for. */
export function moment(input: string | undefined): string | undefined {
  if (input === undefined) return undefined
  const parsed = Date.parse(input)
  if (Number.isNaN(parsed))
    throw new Misuse(`"${input}" is not a date`, 'write it like 2025-01-15 or 2025-01-15T10:30Z')
  return new Date(parsed).toISOString()
}

const DAYS: Readonly<Record<string, number>> = { d: 1, w: 7, m: 30, y: 365 }

/** A date, or how long ago: `90d`, `12w`. */
export function timeAgo(given: string): string {
  const [, count, unit] = /^(\d{1,5})([dwmy])$/.exec(given.trim()) ?? []
  if (count !== undefined && unit !== undefined)
    return new Date(Date.now() - Number(count) * DAYS[unit]! * 86_400_000).toISOString()
  if (Number.isNaN(Date.parse(given)))
    throw new Misuse(`"${given}" is no time`, 'write it like 90d, 12w or 2025-01-15')
  return new Date(given).toISOString()
}
