import * as fc from 'fast-check'
import { cleanText } from '../../src/text/clean.ts'

const NASTY = [
  '- [ ] a box',
  '[x] ticked',
  '## A heading',
  '### 1. Not a decision (2025-01-15T10:30)',
  '**Progress**: 9/9',
  '**Rationale**: because',
  '---',
  '```',
  '~~~sh',
  '<<<<<<< ours',
  '>>>>>>> theirs',
  '=======',
  '<!-- stint: rendered from 1 bytes 00000000 -->',
  'None yet',
  '\\None currently',
  'ends with <- CURRENT',
  'at (2025-01-15T10:30)',
  'Gotcha: not one',
  'Head: tail: more',
  '1. numbered',
  '* star',
  '> quote',
  '| table |',
  'id: 0123 # yaml?',
  '    four spaces',
  '\\\\ two slashes',
  '**bold** and `code`',
  'emoji 🚀 and ünïcödé',
]

const line = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...NASTY) },
  { weight: 3, arbitrary: fc.lorem({ maxCount: 6 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'grapheme', maxLength: 30 }) },
)

/** Texts that may be logged: one or several lines, some of which look like the document's own structure. */
export const anyText = fc
  .array(line, { minLength: 1, maxLength: 4 })
  .map((lines) => cleanText(lines.join('\n')).trim())
  .filter((text) => text !== '')

export const anyLine = line
  .map((text) => cleanText(text).split('\n')[0]!.trim())
  .filter((text) => text !== '')
