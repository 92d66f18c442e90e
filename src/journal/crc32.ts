// Loading `node:zlib` costs more than summing up to this many bytes here.

const LARGE = 64 * 1024
let table: Int32Array | undefined

export function crc32(bytes: Buffer, before = 0): number {
  if (bytes.length > LARGE) return process.getBuiltinModule('node:zlib').crc32(bytes, before)
  table ??= makeTable()
  const { length } = bytes
  const inFours = length - (length % 4)
  let sum = ~before
  let index = 0
  // Four bytes a round: code that runs once is interpreted, so the rounds cost more than the work.
  for (; index < inFours; index += 4) {
    sum ^=
      bytes[index]! |
      (bytes[index + 1]! << 8) |
      (bytes[index + 2]! << 16) |
      (bytes[index + 3]! << 24)
    sum =
      table[768 + (sum & 255)]! ^
      table[512 + ((sum >>> 8) & 255)]! ^
      table[256 + ((sum >>> 16) & 255)]! ^
      table[sum >>> 24]!
  }
  for (; index < length; index += 1) sum = table[(sum ^ bytes[index]!) & 255]! ^ (sum >>> 8)
  return ~sum >>> 0
}

/** Tables for one byte, then for a byte with one, two and three bytes behind it. */
function makeTable() {
  const made = new Int32Array(4 * 256)
  for (let byte = 0; byte < 256; byte += 1) {
    let value = byte
    for (let bit = 0; bit < 8; bit += 1)
      value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
    made[byte] = value
  }
  for (let at = 256; at < made.length; at += 1)
    made[at] = (made[at - 256]! >>> 8) ^ made[made[at - 256]! & 255]!
  return made
}
