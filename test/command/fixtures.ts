import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  type ComposedDigest,
  DIGEST_DEFAULT_TOKENS,
  composeDigest,
} from '../../src/command/digest/compose-digest.ts'
import { OutputReader } from '../../src/command/digest/output-reader.ts'

const folder = dirname(fileURLToPath(import.meta.url))

/** Recorded outputs of tools run here, and handwritten ones after the documentation of others. */
export type Origin = 'recorded' | 'written'

export function outputsOf(origin: Origin): readonly string[] {
  return readdirSync(join(folder, origin)).toSorted()
}

export function outputOf(origin: Origin, name: string): string {
  return readFileSync(join(folder, origin, name), 'utf8')
}

/** The digest of an output, given as a whole or in chunks. */
export function digestOf(
  output: string | readonly string[],
  exitCode: number,
  tokens = DIGEST_DEFAULT_TOKENS,
): ComposedDigest {
  const reader = new OutputReader('/home/me/shop')
  const pieces = [output].flat()
  for (const piece of pieces) reader.add(piece)
  const ended = {
    command: 'run it',
    exitCode,
    seconds: 2,
    bytes: Buffer.byteLength(pieces.join('')),
  }
  const pointer = { id: '1a2b3c4d', path: '.sessions/artifacts/1a2b3c4d5e6f7a8b.txt' }
  return composeDigest(ended, reader.finish(), pointer, tokens)
}

/** Without the first and last line, which are not about the output. */
export function bodyOf(
  output: string | readonly string[],
  exitCode: number,
  tokens?: number,
): readonly string[] {
  return digestOf(output, exitCode, tokens).text.split('\n').slice(1, -1)
}
