const QUOTE = 0x22
const COLON = 0x3a
const BLANK = 0x20
/** No first field has a longer name. */
const LONGEST_NAME = 64

/**
 * Whether a line of JSON that begins there is written without white space, by its first field: whoever writes that so writes
 * all of it so. Where it is, its bytes tell what is in it.
 */
export function isCompact(bytes: Buffer, at = 0): boolean {
  if (bytes[at + 1] !== QUOTE) return false
  let end = at + 2
  for (const last = end + LONGEST_NAME; bytes[end] !== QUOTE; end += 1)
    if (end >= last) return false
  return bytes[end + 1] === COLON && (bytes[end + 2] ?? BLANK) > BLANK
}
