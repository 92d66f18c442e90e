import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { realTokens } from '../context/vocabularies.ts'
import { EXPECTED } from './expected.ts'
import { digestOf, outputOf } from './fixtures.ts'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const MEASURED = [
  'vitest-verbose-passed',
  'vitest-coloured',
  'node-spec-failed',
  'cargo-test-failed',
  'pytest-failed',
  'oxlint',
  'tsc-failed',
]

function row(name: string): string {
  const output = outputOf('recorded', `${name}.txt`)
  const { exit } = EXPECTED[`recorded/${name}.txt`]!
  const [raw, digest] = [realTokens(output), realTokens(`${digestOf(output, exit).text}\n`)]
  const lines = output.trimEnd().split('\n').length
  return `| ${name} | ${lines} | ${raw} | ${digest} | ${Math.round((1 - digest / raw) * 100)} % |`
}

test('the table of what a digest saves says what is measured', () => {
  const page = readFileSync(join(root, 'docs', 'digest.md'), 'utf8')
  const table = /^\| output \|.*\n\|[-|]+\n((?:\|.*\n)*)/m.exec(page)?.[1]?.trimEnd().split('\n')
  expect(table).toEqual(MEASURED.map(row))
})
