// V8 does not verify cached code, and a page zeroed by a power cut crashes the process. So the code
// is stored with a checksum.

const SUM_BYTES = 4
// Every thirteenth word: this loop is interpreted, and a full pass would cost more than the hook.
// That is about nine words of 512 bytes; the odd stride hits both halves of the pairs that V8
// writes.
const STRIDE = 13

export function addChecksum(code: Buffer): Buffer {
  const sealed = Buffer.alloc(code.length + SUM_BYTES)
  code.copy(sealed)
  sealed.writeInt32LE(sumOf(sealed), code.length)
  return sealed
}

/** Undefined if a block is damaged or the end is missing. */
export function removeChecksum(sealed: Buffer): Buffer | undefined {
  const end = sealed.length - SUM_BYTES
  return end > 0 && sealed.readInt32LE(end) === sumOf(sealed) ? sealed.subarray(0, end) : undefined
}

function sumOf(sealed: Buffer): number {
  const words = new Int32Array(sealed.buffer, sealed.byteOffset, (sealed.length - SUM_BYTES) >> 2)
  const { length } = words
  let sum = sealed.length
  for (let index = 0; index < length; index += STRIDE)
    sum = Math.imul(sum ^ words[index]!, 0x9e3779b1)
  return sum
}
