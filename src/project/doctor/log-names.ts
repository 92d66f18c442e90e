import { sameFile, statOrUndefined } from '../../journal/look.ts'
import type { LogPlace } from '../../journal/log.ts'

/** What the two names of a log lead to. */
export type LogNames =
  | 'no log'
  | 'both'
  | 'log missing'
  | 'link missing'
  | 'different files'
  | 'no link wanted'

export function namesOf({ path, link }: LogPlace): LogNames {
  const hasLog = statOrUndefined(path) !== undefined
  if (link === undefined) return hasLog ? 'no link wanted' : 'no log'
  const hasLink = statOrUndefined(link) !== undefined
  if (!hasLog) return hasLink ? 'log missing' : 'no log'
  if (!hasLink) return 'link missing'
  return sameFile(path, link) ? 'both' : 'different files'
}

/** What opening a log put right about its names. */
export function namesMended(before: LogNames, after: LogNames): string | undefined {
  if (after !== 'both') return undefined
  if (before === 'log missing') return 'its log was gone and is back, from its second name'
  if (before === 'link missing') return 'its log had no second name and has it again'
  if (before === 'different files')
    return 'its two names were different files; everything in either is in the log'
  return undefined
}
