// V8 runs the code it is given back without looking whether it is whole, and a page that a power cut left empty ends
// the process. So the code is kept with a sum behind it.

const SUM_BYTES = 4
// Every thirteenth word: a loop that runs once is interpreted, and all of them would cost more than the hook. Nine of
// each block of a disk, and, the stride being odd, not always the same half of what V8 writes in pairs.
const STRIDE = 13

export function sealCode(code: Buffer): Buffer {
  const sealed = Buffer.alloc(code.length + SUM_BYTES)
  code.copy(sealed)
  sealed.writeInt32LE(sumOf(sealed), code.length)
  return sealed
}

/** The code that was sealed, or undefined where a block of it is not what it was, or its end is missing. */
export function unsealCode(sealed: Buffer): Buffer | undefined {
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
