import { expect, test } from 'vitest'
import { readBlocks, readSpans } from '../../web/markdown/read-markdown.ts'

test('a document parses into headings, paragraphs, lists with checkboxes, code, quotes and tables', () => {
  const text = [
    '# Session: It',
    'Two lines',
    'of one paragraph.',
    '',
    '- [x] done (2026-01-01T10:00)',
    '- [ ] open',
    '  - inner',
    '1. first',
    '',
    '```go',
    '- no list',
    '```',
    '> said',
    '',
    '| a | b |',
    '|---|---|',
    '| 1 | 2 |',
    '---',
  ].join('\n')
  expect(readBlocks(text)).toEqual([
    { type: 'heading', level: 1, text: 'Session: It' },
    { type: 'paragraph', text: 'Two lines\nof one paragraph.' },
    {
      type: 'list',
      isOrdered: false,
      start: 1,
      items: [
        { isDone: true, blocks: [{ type: 'paragraph', text: 'done (2026-01-01T10:00)' }] },
        {
          isDone: false,
          blocks: [
            { type: 'paragraph', text: 'open' },
            {
              type: 'list',
              isOrdered: false,
              start: 1,
              items: [{ blocks: [{ type: 'paragraph', text: 'inner' }] }],
            },
          ],
        },
      ],
    },
    {
      type: 'list',
      isOrdered: true,
      start: 1,
      items: [{ blocks: [{ type: 'paragraph', text: 'first' }] }],
    },
    { type: 'code', language: 'go', text: '- no list' },
    { type: 'quote', blocks: [{ type: 'paragraph', text: 'said' }] },
    { type: 'table', head: ['a', 'b'], rows: [['1', '2']] },
    { type: 'rule' },
  ])
})

test('inline formatting is parsed, and underscores within words are left alone', () => {
  expect(readSpans('a **b `c`** *d* snake_case_name [e](https://example.invalid/x)')).toEqual([
    { type: 'text', text: 'a ' },
    {
      type: 'strong',
      spans: [
        { type: 'text', text: 'b ' },
        { type: 'code', text: 'c' },
      ],
    },
    { type: 'text', text: ' ' },
    { type: 'emphasis', spans: [{ type: 'text', text: 'd' }] },
    { type: 'text', text: ' snake_case_name ' },
    { type: 'link', to: 'https://example.invalid/x', spans: [{ type: 'text', text: 'e' }] },
  ])
})

test.each([
  'javascript:alert(1)',
  'javascript:top.pwned=1',
  'JaVaScript:alert(1)',
  'data:text/html,x',
  'vbscript:x',
  '/api/sessions',
  '//other.invalid',
  'file:///etc/passwd',
])('a link to %s is a text', (target) => {
  expect(readSpans(`[a](${target})`)).toEqual([{ type: 'text', text: `[a](${target})` }])
})

test.each([
  ['stars', '*'.repeat(100_000)],
  ['pairs that never close', '**a '.repeat(5000)],
  ['brackets', '['.repeat(20_000)],
  ['backticks', '` a '.repeat(5000)],
  ['deep quotes', `${'>'.repeat(5000)} a`],
  [
    'deep lists',
    Array.from({ length: 2000 }, (_, depth) => `${' '.repeat(depth * 2)}- a`).join('\n'),
  ],
  ['pipes', `|${'a|'.repeat(20_000)}`],
  ['one long line', 'x'.repeat(1_000_000)],
])('%s are read to their end', (_, text) => {
  const letters = (value: unknown): number => JSON.stringify(value).length
  for (const block of readBlocks(text))
    if (block.type === 'paragraph') expect(letters(readSpans(block.text))).toBeGreaterThan(0)
})
