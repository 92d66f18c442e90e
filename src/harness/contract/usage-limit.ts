const LIMIT =
  /usage limit|rate.?limit|hit your (?:\w+ )?limit|limit (?:reached|exceeded)|too many requests|quota (?:exceeded|exhausted)|resource.?exhausted|insufficient_quota|\b429\b/i

const MOMENT = /\b\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)/
const SECONDS = /\|(\d{10})\b/

export interface LimitReached {
  readonly message: string
  readonly resetsAt?: string
}

export function limitIn(text: string): LimitReached | undefined {
  if (!LIMIT.test(text)) return undefined
  const seconds = SECONDS.exec(text)?.[1]
  const moment = Date.parse(MOMENT.exec(text)?.[0] ?? '')
  const at = seconds === undefined ? moment : Number(seconds) * 1000
  return { message: text, ...(Number.isNaN(at) ? {} : { resetsAt: new Date(at).toISOString() }) }
}
