import { realTokens } from '../context/vocabularies.ts'
import { EXPECTED } from './expected.ts'
import { digestOf, outputOf } from './fixtures.ts'

const MEASURED = [
  'vitest-verbose-passed',
  'vitest-coloured',
  'node-spec-failed',
  'cargo-test-failed',
  'pytest-failed',
  'oxlint',
  'tsc-failed',
]

export interface MeasuredDigest {
  readonly name: string
  readonly lines: number
  readonly raw: number
  readonly digest: number
}

/** Token counts of outputs and their digests, as in the docs. */
export function measuredDigests(): readonly MeasuredDigest[] {
  return MEASURED.map((name) => {
    const output = outputOf('recorded', `${name}.txt`)
    const { exit } = EXPECTED[`recorded/${name}.txt`]!
    return {
      name,
      lines: output.trimEnd().split('\n').length,
      raw: realTokens(output),
      digest: realTokens(`${digestOf(output, exit).text}\n`),
    }
  })
}
