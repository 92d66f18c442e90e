import { describe, expect, test } from 'vitest'
import { splitSentences } from '../../src/session/statements/split-sentences.ts'

describe('sentences', () => {
  test.each([
    [
      'The job starts at 05:30. It reads src/a.ts.',
      ['The job starts at 05:30.', 'It reads src/a.ts.'],
    ],
    ['Use v1.2, e.g. for t_0193. Done', ['Use v1.2, e.g. for t_0193.', 'Done']],
    ['See https://a.example/b.c?d=e. Then stop!', ['See https://a.example/b.c?d=e.', 'Then stop!']],
    [
      'It crashes (don’t ask. really) at night. Why? No idea',
      ['It crashes (don’t ask. really) at night.', 'Why?', 'No idea'],
    ],
    ['He said "Stop. Now." and left.', ['He said "Stop. Now." and left.']],
    ['Run `a. b` twice. ok', ['Run `a. b` twice.', 'ok']],
    ['J. Smith owns it. We take plan B. Next.', ['J. Smith owns it.', 'We take plan B.', 'Next.']],
    [
      'Am 14. Oktober kommt Dr. Meier, z. B. mit v2. Gut.',
      ['Am 14. Oktober kommt Dr. Meier, z. B. mit v2.', 'Gut.'],
    ],
    ["C'est fait ? Oui. Merci !", ["C'est fait ?", 'Oui.', 'Merci !']],
    [
      '¿Seguro? El plazo acaba el 3. Hasta luego.',
      ['¿Seguro?', 'El plazo acaba el 3.', 'Hasta luego.'],
    ],
    ['不要改数据库。只用 pnpm！好吗？', ['不要改数据库。', '只用 pnpm！', '好吗？']],
    ['テストは変更しないで。次へ', ['テストは変更しないで。', '次へ']],
    ['no. use postgres', ['no.', 'use postgres']],
  ])('end where they end in %j', (text, sentences) => {
    expect(splitSentences(text)).toEqual(sentences)
  })

  test('are found in list items and in lines broken by an editor', () => {
    const text =
      'Rules:\n- no mocks. ever\n* [ ] squash\n1. tag it\n\n' +
      'This line was broken by an editor at a fixed column\nand continues here.'
    expect(splitSentences(text)).toEqual([
      'Rules:',
      'no mocks.',
      'ever',
      'squash',
      'tag it',
      'This line was broken by an editor at a fixed column and continues here.',
    ])
  })

  test('are not found in code, stack traces, logs, tables and pasted output', () => {
    const pasted = [
      '```js\n// never use this\nlet x = 1\n```',
      '~~~\nalways do that\n~~~',
      'TypeError: x must not be null\n    at use (src/a.ts:1:2)',
      '2026-01-02T03:04:05 ERROR worker 1 must not be called twice',
      '| name | value |\n|---|---|\n| a | 1 |',
      'no;total;currency\nA-1;1200;EUR',
      '✖ clock skew is accepted (3.1ms)\n  AssertionError [ERR_ASSERTION]: false == true',
      '$ npm test\n{ "never": true }\n<div>only this</div>',
      '+const a = never()\n@@ -1 +1 @@\nexport function never() {',
    ]
    for (const text of pasted) expect(splitSentences(text)).toEqual([])
    expect(splitSentences(`Before.\n\n${pasted.join('\n\n')}\n\nAfter.`)).toEqual([
      'Before.',
      'After.',
    ])
  })

  test('of both ends of a very long message are found', () => {
    const sentences = splitSentences(`First one.\n${'x'.repeat(100_000)}\nLast one.`)
    expect(sentences.at(0)).toBe('First one.')
    expect(sentences.at(-1)).toBe('Last one.')
  })
})
