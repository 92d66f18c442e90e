import { oneLine } from '../../../text/clean.ts'
import { type LimitReached, isoFromSeconds } from '../../contract/usage.ts'
import { type Json, asName, asObject } from '../../../text/json-fields.ts'
import { defined } from '../../../text/defined.ts'

export function limitFromEvent(event: Json): LimitReached | undefined {
  const info = asObject(event.rate_limit_info)
  if (info?.status !== 'rejected') return undefined
  // The account continues on overage or grace.
  if (
    ['isUsingOverage', 'overageInUse', 'rateLimitGraceActive'].some((field) => info[field] === true)
  )
    return undefined
  const limitType = asName(info.rateLimitType)?.replaceAll('_', ' ')
  return {
    message:
      limitType === undefined
        ? 'the usage limit is reached'
        : `the usage limit is reached (${limitType})`,
    ...defined({ resetsAt: isoFromSeconds(info.resetsAt) }),
  }
}

const LIMIT_TEXT =
  /usage limit reached|spend limit|You've (?:hit|reached) your|You're out of|out of (?:extra )?usage|Credit balance is too low|rate.limit|\b429\b/i

export function limitFromFailure(result: Json, text: string, now: Date): LimitReached | undefined {
  const isReported = result.api_error_status === 429 || result.api_error === 'usage_limit_reached'
  if (!isReported && !LIMIT_TEXT.test(text)) return undefined
  return {
    message: oneLine(text.replace(/\|\d+$/, '')),
    ...defined({ resetsAt: parseReset(text, now) }),
  }
}

function parseReset(text: string, now: Date) {
  const seconds = /limit reached\|(\d{9,11})\b/.exec(text)?.[1]
  return seconds === undefined ? parseResetText(text, now) : isoFromSeconds(Number(seconds))
}

const RESET_TEXT =
  /resets (?:([A-Z][a-z]{2}) (\d{1,2}),? (?:(\d{4}),? )?(?:at )?)?(\d{1,2})(?::(\d{2}))? ?([ap])m(?: \(([A-Za-z0-9_+/-]{1,40})\))?/
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

function parseResetText(text: string, now: Date) {
  const [, month, day, year, hour, minute, half, zone = 'UTC'] = RESET_TEXT.exec(text) ?? []
  if (hour === undefined) return undefined
  const here = wallClock(now, zone)
  if (here === undefined) return undefined
  const hours = (Number(hour) % 12) + (half === 'p' ? 12 : 0)
  const at = (y: number, m: number, d: number) => Date.UTC(y, m, d, hours, Number(minute ?? 0))
  let wallTime: number
  if (month === undefined) {
    wallTime = at(here.getUTCFullYear(), here.getUTCMonth(), here.getUTCDate())
    if (wallTime <= here.getTime()) wallTime += 24 * 3_600_000
  } else {
    wallTime = at(Number(year ?? here.getUTCFullYear()), MONTHS.indexOf(month), Number(day))
    if (year === undefined && wallTime <= here.getTime())
      wallTime = at(here.getUTCFullYear() + 1, MONTHS.indexOf(month), Number(day))
  }
  return utcTime(wallTime, zone)
}

/** The wall-clock time of a zone, expressed as if it were UTC. */
function wallClock(moment: Date, zone: string) {
  try {
    const shown = new Intl.DateTimeFormat('sv-SE', {
      timeZone: zone,
      dateStyle: 'short',
      timeStyle: 'medium',
    }).format(moment)
    return new Date(`${shown.replace(' ', 'T')}Z`)
  } catch {
    // The zone is unknown on this machine.
    return undefined
  }
}

function utcTime(wallTime: number, zone: string) {
  // The second round covers a clock change in between.
  let moment = wallTime
  for (let round = 0; round < 2; round += 1) {
    const shown = wallClock(new Date(moment), zone)
    if (shown === undefined) return undefined
    moment += wallTime - shown.getTime()
  }
  return isoFromSeconds(moment / 1000)
}
