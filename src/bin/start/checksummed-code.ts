// V8 does not verify cached code, and a page zeroed by a power cut crashes the process. So the code
// is stored with a checksum.

/** The sum comes first and keeps the code aligned, which V8 would copy otherwise. */
const SUM_BYTES = 8
// Every 11th word: this loop is interpreted, and a full pass would cost more than the hook. That is
// about 93 words of a page and 11 of a sector, so that not all of them are zero in sound code; the
// odd stride hits both halves of the pairs that V8 writes.
const STRIDE = 11

export function addChecksum(code: Uint8Array): Uint8Array {
  const sealed = new Uint8Array(code.length + SUM_BYTES)
  sealed.set(code, SUM_BYTES)
  const words = wordsOf(sealed)
  words[0] = sumOf(words, sealed.length)
  return sealed
}

/** Undefined if a block is damaged or the end is missing. */
export function removeChecksum(sealed: Uint8Array): Uint8Array | undefined {
  if (sealed.length <= SUM_BYTES) return undefined
  const words = wordsOf(sealed)
  return words[0] === sumOf(words, sealed.length)
    ? new Uint8Array(sealed.buffer, sealed.byteOffset + SUM_BYTES, sealed.length - SUM_BYTES)
    : undefined
}

function wordsOf({ buffer, byteOffset, length }: Uint8Array): Int32Array {
  return new Int32Array(buffer, byteOffset, length >> 2)
}

function sumOf(words: Int32Array, bytes: number): number {
  const { length } = words
  let sum = bytes
  for (let index = SUM_BYTES >> 2; index < length; index += STRIDE)
    sum = Math.imul(sum ^ words[index]!, 0x9e3779b1)
  return sum
}
