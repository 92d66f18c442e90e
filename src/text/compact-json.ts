const QUOTE = 0x22
const COLON = 0x3a
const BLANK = 0x20
/** No first field has a longer name. */
const LONGEST_NAME = 64

/** Judged by the first field: a program that writes that without white space writes all of it so. */
export function isCompact(bytes: Buffer, at = 0): boolean {
  if (bytes[at + 1] !== QUOTE) return false
  let end = at + 2
  for (const last = end + LONGEST_NAME; bytes[end] !== QUOTE; end += 1)
    if (end >= last) return false
  return bytes[end + 1] === COLON && (bytes[end + 2] ?? BLANK) > BLANK
}
