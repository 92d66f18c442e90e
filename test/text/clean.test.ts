import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cleanText, oneLine, shorten, slug } from '../../src/text/clean.ts'

const ESC = '\u001B'

// Mostly the characters that cleaning changes, so that few runs find unusual combinations.
const messy = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 4 }),
      fc.constantFrom(
        '\r',
        '\n',
        '\r\n',
        '\t',
        ' ',
        '\u2028',
        '\u0085',
        '\uFEFF',
        '\u202E',
        '\u2066',
        '\u009B',
        '\u009D',
        '\uD83D',
        '\uDE00',
      ),
      fc.constantFrom(
        ESC,
        `${ESC}[`,
        `${ESC}]`,
        '31m',
        ';',
        '\u0007',
        `${ESC}\\`,
        'K',
        'word',
        '\u0000',
      ),
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''))

describe('cleaning text', () => {
  test('line ends of every kind become one', () => {
    expect(cleanText('a\r\nb\rc\u2028d\u2029e\u0085f')).toBe('a\nb\nc\nd\ne\nf')
  })

  test('escape sequences are removed with their payload', () => {
    const link = `${ESC}]8;;https://example.com\u0007name${ESC}]8;;${ESC}\\`
    expect(cleanText(`${ESC}[1;31mred${ESC}[0m ${link} \u009B2Kend${ESC}(B`)).toBe('red name end')
  })

  test('an unfinished escape sequence removes no other line', () => {
    expect(cleanText(`before ${ESC}]0;title\nafter\u0007`)).toBe('before 0;title\nafter')
  })

  test('control characters and direction overrides are removed, tabs stay', () => {
    expect(cleanText('a\u0000b\u0008c\td\u007F\u0090e\u202Ef\u2066g\u2069')).toBe('abc\tdefg')
  })

  test('half a surrogate pair becomes a replacement character', () => {
    expect(cleanText('a\uD83Db')).toBe('a\uFFFDb')
    expect(cleanText('a😀b')).toBe('a😀b')
  })

  test('blank edges are removed, long gaps become one blank line, short gaps stay', () => {
    expect(cleanText('\n \n  a  \n\n\nb\t\n\n\n\n\nc\n\n')).toBe('  a\n\n\nb\n\nc')
  })

  test('cleaning twice changes nothing', () => {
    fc.assert(
      fc.property(messy, (text) => {
        const once = cleanText(text)
        expect(cleanText(once)).toBe(once)
        expect(once.isWellFormed()).toBe(true)
        expect(once).not.toMatch(/[^\P{Cc}\n\t]/u)
      }),
    )
  })

  test('a megabyte of unfinished sequences and spaces is cleaned', () => {
    const parts = [`${ESC}]`, `${ESC}[1`, ' ', '\u009B', '\r', `${ESC}P`]
    for (const part of parts)
      expect(cleanText(`x${part.repeat(1_000_000 / part.length)}\ny`).endsWith('\ny')).toBe(true)
  })
})

describe('one line', () => {
  test('lines are joined by a space', () => {
    expect(oneLine('  a b \n\n\tc\r\nd ')).toBe('a b c d')
  })
})

describe('a slug', () => {
  test.each([
    ['Fix the login bug!', 'fix-the-login-bug'],
    ['Größe ändern – Überprüfung', 'grosse-andern-uberprufung'],
    ['Łódź Ærø', 'lodz-aero'],
    ['ﬁx ①②', 'fix-12'],
    ['../../etc/passwd', 'etc-passwd'],
    ['大きい', 'session'],
    ['', 'session'],
    ['😀', 'session'],
  ])('%j becomes %j', (text, expected) => {
    expect(slug(text)).toBe(expected)
  })

  test('it ends at a word, and only a first word that is too long is cut', () => {
    expect(slug('one two three', 9)).toBe('one-two')
    expect(slug('abcdefghij klm', 5)).toBe('abcde')
  })

  test('it is a name of a-z, 0-9 and single inner hyphens for any text', () => {
    fc.assert(
      fc.property(
        fc.oneof(messy, fc.string({ unit: 'grapheme' })),
        fc.integer({ min: 7, max: 60 }),
        (text, max) => {
          const name = slug(text, max)
          expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/)
          expect(name.length).toBeLessThanOrEqual(max)
        },
      ),
    )
  })
})

describe('shortening', () => {
  test('it cuts at a word and marks the cut', () => {
    expect(shorten('the quick brown fox', 12)).toBe('the quick…')
    expect(shorten('the quick brown fox', 10)).toBe('the quick…')
    expect(shorten('short', 10)).toBe('short')
    expect(shorten('a incomprehensibilities', 12)).toBe('a incompreh…')
  })

  test('it never exceeds its length nor splits a character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 0, max: 30 }), (text, max) => {
        const short = shorten(text, max)
        expect(short.length).toBeLessThanOrEqual(max)
        expect(short.isWellFormed()).toBe(true)
      }),
    )
  })
})
