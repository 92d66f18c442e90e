import { randomHex } from './random.ts'

const ID_PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const COUNTER_LIMIT = 0xfff
const MILLIS_LIMIT = 0xffff_ffff_ffff
// A fresh millisecond starts in the lower half, which leaves 2,048 ids before the next millisecond is borrowed.
const COUNTER_SEED_MASK = 0x7ff

export function isId(text: string): boolean {
  return ID_PATTERN.test(text)
}

/** Mints a UUIDv7 that sorts after `after`, even when the clock jumped back or another process minted ahead. */
export function mintId(after: string | undefined, now: number = Date.now()): string {
  const random = randomHex(10)
  let millis = now
  let counter = Number.parseInt(random.slice(0, 3), 16) & COUNTER_SEED_MASK
  if (after !== undefined && isId(after)) {
    const afterMillis = millisOf(after)
    if (millis <= afterMillis) {
      const afterCounter = Number.parseInt(after.slice(15, 18), 16)
      if (afterCounter < COUNTER_LIMIT) {
        millis = afterMillis
        counter = afterCounter + 1
      } else if (afterMillis < MILLIS_LIMIT) {
        millis = afterMillis + 1
      }
    }
  }
  const time = millis.toString(16).padStart(12, '0')
  const variant = '89ab'[Number.parseInt(random[3]!, 16) & 3]!
  return `${time.slice(0, 8)}-${time.slice(8)}-7${counter.toString(16).padStart(3, '0')}-${variant}${random.slice(4, 7)}-${random.slice(8, 20)}`
}

/** The random tail: two ids minted together share their time. */
export function shortId(id: string): string {
  return id.slice(-6)
}

export function timeOfId(id: string): string | undefined {
  const time = new Date(isId(id) ? millisOf(id) : Number.NaN)
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString()
}

function millisOf(id: string) {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}
