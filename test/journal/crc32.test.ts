import { crc32 as zlib } from 'node:zlib'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { crc32 } from '../../src/journal/record.ts'

test("the checksum equals zlib's for any bytes, in one piece or two", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 3000 }), fc.nat(), (array, cut) => {
      const bytes = Buffer.from(array)
      const at = cut % (bytes.length + 1)
      expect(crc32(bytes)).toBe(zlib(bytes))
      expect(crc32(bytes.subarray(at), crc32(bytes.subarray(0, at)))).toBe(zlib(bytes))
    }),
  )
})

test("the checksum equals zlib's for a large buffer", () => {
  const bytes = Buffer.alloc(200_000, 'some text')
  expect(crc32(bytes)).toBe(zlib(bytes))
})
