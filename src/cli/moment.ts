import { Misuse } from './errors.ts'

/** A date as a person types it, as the time it stands for. */
export function moment(input: string | undefined): string | undefined {
  if (input === undefined) return undefined
  const parsed = Date.parse(input)
  if (Number.isNaN(parsed)) throw new Misuse(`"${input}" is not a date`, 'write it like 2025-01-15 or 2025-01-15T10:30Z')
  return new Date(parsed).toISOString()
}
