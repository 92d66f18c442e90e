import * as fc from 'fast-check'

/** Texts that break a careless terminal view: wide, joined, combining, reordering and control characters. */
export const awkwardText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom(
    '',
    ' ',
    '\u001B[2J\u001B[31mred',
    '\u001B]0;title\u0007x',
    'one\r\ntwo\rthree\u2028four\u0085five',
    'tab\tbed',
    '会話を続ける作業の説明が長くて端末に入らない場合でも表示は崩れない',
    '👩‍👩‍👧‍👦👍🏽🇩🇪⚠️ family',
    'z̴̡͍̠̥͗a̵͎̐l̸͓̈́g̵̡̐o̷̥̓',
    '\u202Eevil\u202C',
    'constructor',
    '__proto__',
    'x'.repeat(5000),
  ),
)
