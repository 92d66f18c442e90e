import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { type MeasuredDigest, measuredDigests } from './measured.ts'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

function row({ name, lines, raw, digest }: MeasuredDigest): string {
  return `| ${name} | ${lines} | ${raw} | ${digest} | ${Math.round((1 - digest / raw) * 100)} % |`
}

test('the documented table of digest savings matches the measurements', () => {
  const page = readFileSync(join(root, 'docs', 'digest.md'), 'utf8')
  const table = /^\| output \|.*\n\|[-|]+\n((?:\|.*\n)*)/m.exec(page)?.[1]?.trimEnd().split('\n')
  expect(table).toEqual(measuredDigests().map(row))
})
