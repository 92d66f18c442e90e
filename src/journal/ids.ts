import { openSync, readSync } from 'node:fs'

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

// Reads /dev/urandom because loading `node:crypto` costs a hook more than everything it writes.

const POOL_BYTES = 512
const pool = Buffer.allocUnsafe(POOL_BYTES)
let used = POOL_BYTES
let device: number | undefined

export function randomHex(bytes: number): string {
  if (used + bytes > POOL_BYTES) refill()
  let hex = ''
  for (const end = used + bytes; used < end; used += 1)
    hex += pool[used]!.toString(16).padStart(2, '0')
  return hex
}

function refill() {
  if (!readDevice()) process.getBuiltinModule('node:crypto').randomFillSync(pool)
  used = 0
}

function readDevice() {
  try {
    device ??= openSync('/dev/urandom', 'r')
    return readSync(device, pool, 0, POOL_BYTES, null) === POOL_BYTES
  } catch {
    // Windows, or a sandbox without devices.
    return false
  }
}
