import { decode } from '@toon-format/toon'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { costOfAll } from '../../src/context/text-size.ts'
import { safeLine } from '../../src/text/safe-text.ts'
import { sectionFrame } from '../../src/context/section.ts'
import { type SectionTable, asList, asToon, tableSection } from '../../src/context/table-section.ts'
import { anyLine } from '../support/texts.ts'

type Row = Readonly<Record<'decision' | 'because', string>>

const FRAME = { ...sectionFrame('Decisions:', 'decisions', 'x', [0, 0, 0]), lengths: [500] }

function tableOf(rows: readonly Row[]): SectionTable<'decision' | 'because'> {
  return {
    name: 'decisions',
    main: 'decision',
    columns: { decision: 1, because: 1 },
    rows,
    line: ({ decision, because }) =>
      because === '' ? decision : `${decision} (because ${because})`,
  }
}

const render = (rows: readonly Row[]) => tableSection(tableOf(rows), FRAME).lines(rows.length, 500)

describe('a table', () => {
  test('of many plain rows is printed as TOON', () => {
    const rows = Array.from({ length: 12 }, (_, n) => ({
      decision: `keep queue ${n} small`,
      because: `node ${n} has no room`,
    }))
    expect(render(rows)[0]).toBe('decisions[12|]{decision|because}:')
    expect(decode(render(rows).join('\n'))).toEqual({ decisions: rows })
  })

  test('of few rows, or of rows full of symbols, is printed as a list', () => {
    const few = [{ decision: 'Lock first', because: 'simplest' }]
    expect(render(few)).toEqual(['Decisions:', '- Lock first (because simplest)'])
    const quoted = Array.from({ length: 12 }, (_, n) => ({
      decision: `"a": [${n}]`,
      because: `x: "y" | {${n}}`,
    }))
    expect(render(quoted)[0]).toBe('Decisions:')
  })

  test('leaves out a column that no row fills', () => {
    const rows = Array.from({ length: 30 }, (_, n) => ({ decision: `todo ${n}`, because: '' }))
    expect(asToon(tableOf(rows), rows)[0]).toBe('decisions[30|]{decision}:')
  })

  test('takes the smaller of its two forms, and can be read back as TOON', () => {
    const words = fc.lorem({ maxCount: 4 })
    const cell = fc
      .oneof({ weight: 3, arbitrary: words }, { weight: 1, arbitrary: anyLine })
      .map(safeLine)
    const row = fc.record({
      decision: cell.filter((text) => text !== ''),
      because: fc.oneof(fc.constant(''), cell),
    })
    // Without a size, generated tables have few rows, with gaps and symbols, and are hardly ever
    // smaller as TOON.
    const manyOf = (kind: fc.Arbitrary<Row>) =>
      fc.array(kind, { minLength: 1, maxLength: 30, size: 'max' })
    const anyRows = fc.oneof(manyOf(row), manyOf(fc.record({ decision: words, because: words })))
    const forms = new Set<string>()
    fc.assert(
      fc.property(anyRows, (rows) => {
        const lines = render(rows)
        const [list, toon] = [
          asList('Decisions:', tableOf(rows), rows),
          asToon(tableOf(rows), rows),
        ]
        expect(costOfAll(lines)).toBe(Math.min(costOfAll(list), costOfAll(toon)))
        forms.add(lines[0] === list[0] ? 'list' : 'toon')
        const read = decode(toon.join('\n')) as { decisions: readonly Partial<Row>[] }
        expect(read.decisions.map(({ decision, because = '' }) => ({ decision, because }))).toEqual(
          rows,
        )
      }),
      { numRuns: 400 },
    )
    expect([...forms].toSorted()).toEqual(['list', 'toon'])
  })
})
