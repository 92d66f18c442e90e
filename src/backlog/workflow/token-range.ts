/** From and to; the same twice for a number. */
export type TokenRange = readonly [number, number]

const AMOUNT = String.raw`(\d+(?:[._]\d+)*)\s*([km]?)`
const RANGE = new RegExp(`^${AMOUNT}(?:\\s*(?:-|–|to)\\s*${AMOUNT})?$`, 'i')
const MOST = 1e9

/** `60000`, `60K`, `50K-80K`, `0.5M`; undefined for anything else. */
export function tokenRange(value: unknown): TokenRange | undefined {
  const match = RANGE.exec(String(value).trim())
  if (match === null || (typeof value !== 'number' && typeof value !== 'string')) return undefined
  const [, from = '', unit = '', to, toUnit = ''] = match
  // In 50-80K both are thousands.
  const low = amount(from, to !== undefined && unit === '' ? toUnit : unit)
  const high = to === undefined ? low : amount(to, toUnit)
  return low > 0 && low <= high && high <= MOST ? [low, high] : undefined
}

function amount(digits: string, unit: string): number {
  const times = { k: 1000, m: 1_000_000 }[unit.toLowerCase()] ?? 1
  return Number(digits.replaceAll('_', '')) * times
}

/** `50K-80K`, `115K`, `900` */
export function tokensText([from, to]: TokenRange): string {
  return from === to ? short(from) : `${short(from)}-${short(to)}`
}

function short(tokens: number): string {
  return tokens < 1000 ? String(tokens) : `${Number((tokens / 1000).toFixed(1))}K`
}
