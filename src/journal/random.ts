// Reads /dev/urandom because loading `node:crypto` costs a hook more than everything it writes.
import { openSync, readSync } from 'node:fs'

const POOL_BYTES = 512
const pool = Buffer.allocUnsafe(POOL_BYTES)
let used = POOL_BYTES
let device: number | undefined

export function randomHex(bytes: number): string {
  if (used + bytes > POOL_BYTES) refill()
  used += bytes
  return pool.toString('hex', used - bytes, used)
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
