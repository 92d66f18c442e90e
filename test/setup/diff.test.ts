import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { applyUndo, undoSteps, unifiedDiff } from '../../src/harness/setup/plan.ts'
import { scratchFolder } from '../support/scratch.ts'

const anyLines = fc.array(fc.constantFrom('a', 'b', 'c', '', '{', '  "x": 1,'), { maxLength: 12 })
const anyText = fc
  .tuple(anyLines, fc.boolean())
  .map(([lines, isEnded]) => lines.join('\n') + (isEnded && lines.length > 0 ? '\n' : ''))

describe('a unified diff', () => {
  test('is empty between a text and itself', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(unifiedDiff(text, text)).toEqual([])
      }),
    )
  })

  test('turns one text into the other when git applies it', () => {
    const folder = scratchFolder()
    const path = join(folder, 'file')
    fc.assert(
      fc.property(anyText, anyText, (before, after) => {
        // Git distinguishes an empty file from an absent one.
        fc.pre(before !== after && before !== '' && after !== '')
        writeFileSync(path, before)
        const patch = ['--- a/file', '+++ b/file', ...unifiedDiff(before, after), ''].join('\n')
        const ran = spawnSync('git', ['apply', '--whitespace=nowarn', '-'], {
          cwd: folder,
          input: patch,
          encoding: 'utf8',
        })
        expect(ran.stderr).toBe('')
        expect(readFileSync(path, 'utf8')).toBe(after)
      }),
      { numRuns: 50 },
    )
  })

  test('shows three lines of context, and changed line ends', () => {
    const before = ['1', '2', '3', '4', '5', '6', '7', '8', ''].join('\n')
    expect(unifiedDiff(before, before.replace('5\n', '5\r\n'))).toEqual([
      '@@ -2,7 +2,7 @@',
      ' 2',
      ' 3',
      ' 4',
      '-5',
      '+5␍',
      ' 6',
      ' 7',
      ' 8',
    ])
  })
})

describe('the undo steps', () => {
  test('restore the first of any sequence of texts', () => {
    fc.assert(
      fc.property(fc.array(anyText, { minLength: 1, maxLength: 5 }), (texts) => {
        expect(applyUndo(texts.at(-1)!, undoSteps(texts))).toBe(texts[0])
      }),
    )
  })
})
