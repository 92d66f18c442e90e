import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { COMMON_WORDS } from '../../src/text/common-words.ts'
import { estimateTokens } from '../../src/text/tokens.ts'
import { realTokens } from './vocabularies.ts'
import { cases } from '../support/cases.ts'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const read = (...paths: readonly string[]) =>
  paths.map((path) => readFileSync(join(root, path), 'utf8')).join('\n')
const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter(
  (path) => path.endsWith('.ts'),
)
const bytes = Buffer.from(
  Array.from({ length: 6000 }, (_, n) => (n * 7919 + (n >> 3) * 104_729) % 251),
)

/** Realistic texts, long enough to take samples of. */
const TEXTS: Readonly<Record<string, string>> = {
  'English prose': read('README.md', 'ARCHITECTURE.md', 'CONTEXT.md', 'AGENTS.md'),
  code: read(...sources.slice(0, 60).map((path) => join('src', path))),
  JSON: read('package.json', 'package-lock.json').slice(0, 60_000),
  paths: sources.map((path) => join('/home/somebody/projects/stint/src', path)).join('\n'),
  'hexadecimal ids': bytes.toString('hex'),
  base64: bytes.toString('base64'),
  uuids: Array.from({ length: 200 }, (_, n) =>
    bytes.toString('hex', n * 16, n * 16 + 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
  ).join(' '),
  Chinese:
    '我们决定使用 Redis 而不是 Memcached，因为它支持持久化。修复竞争条件：在获取锁之前检查状态。下一步是完成互斥锁的实现并添加回归测试。'.repeat(
      30,
    ),
  Japanese:
    'セッションの再開時に前回の作業内容を読み込む必要があります。ロックの順序に注意してください。次は回帰テストを追加します。'.repeat(
      30,
    ),
  Korean: '세션을 재개할 때 이전 작업 내용을 불러와야 합니다. 잠금 순서에 주의하세요. '.repeat(40),
  Russian:
    'При возобновлении сеанса необходимо загрузить предыдущую работу. Обратите внимание на порядок блокировок. '.repeat(
      40,
    ),
  German:
    'Wir führen die Zustandsüberprüfung nach dem Sperrenerwerb durch, weil sie sonst veraltet. '.repeat(
      40,
    ),
  Polish:
    'Zdecydowaliśmy się użyć blokady przed sprawdzeniem stanu, ponieważ inaczej występuje wyścig. '.repeat(
      40,
    ),
  Finnish:
    'Päätimme käyttää lukitusjärjestystä, jossa tarkistus tehdään vasta lukon hankkimisen jälkeen. '.repeat(
      40,
    ),
  Latin:
    'Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore et dolore. '.repeat(
      30,
    ),
  Arabic: 'قررنا الحصول على القفل قبل التحقق من الحالة لأن الترتيب الآخر يسبب سباقًا. '.repeat(40),
  Hindi: 'हमने स्थिति की जाँच से पहले लॉक लेने का निर्णय लिया क्योंकि अन्यथा दौड़ होती है। '.repeat(40),
  Thai: 'เราตัดสินใจล็อกก่อนตรวจสอบสถานะ เพราะไม่เช่นนั้นจะเกิดการแข่งขัน '.repeat(40),
  emoji: '🚀🎉✅❌⛔📋💾🔥😀👍🏽👩‍💻❤️🤷‍♂️🇩🇪'.repeat(40),
  'rare characters': Array.from({ length: 2000 }, (_, n) =>
    String.fromCodePoint(0x4e00 + ((n * 7919) % 20_000)),
  ).join(''),
  'symbols and frames': '→←↑↓⇒…·•–—“”‘’«»‹›×÷±≠≤≥█░▓┌─┐│└┘├┤'.repeat(40),
  'repeated symbols': '{}[]()<>;:,.!?@#$%^&*-_=+|~/\\"\''.repeat(60),
  capitals:
    'ERR_HTTP_HEADERS_SENT EADDRINUSE WARNING TODO FIXME CHANGELOG BECAUSE DESCRIPTION COMPLETED TEMPORARY XQZJKW VBNMRT '.repeat(
      40,
    ),
}

const window = (text: string, length: number) =>
  fc
    .nat({ max: Math.max(0, text.length - length) })
    .map((from) => text.slice(from, from + length).toWellFormed())

describe('the token estimate', () => {
  test.each(Object.entries(TEXTS))('is never below the real token count of %s', (_name, text) => {
    for (const length of [20, 100, 600, 3000]) {
      fc.assert(
        fc.property(window(text, length), (piece) => {
          expect(estimateTokens(piece)).toBeGreaterThanOrEqual(realTokens(piece))
        }),
        { numRuns: cases(60) },
      )
    }
  })

  test('is never below the real token count of any text', () => {
    const unit = fc.constantFrom<('grapheme' | 'grapheme-ascii' | 'binary')[]>(
      'grapheme',
      'grapheme-ascii',
      'binary',
    )
    const any = unit.chain((kind) => fc.string({ unit: kind, maxLength: 300, size: 'max' }))
    fc.assert(
      fc.property(any, (text) => {
        expect(estimateTokens(text)).toBeGreaterThanOrEqual(realTokens(text.toWellFormed()))
      }),
      { numRuns: cases(1000) },
    )
  })

  test('wastes less than a quarter of the room on English text', () => {
    const text = TEXTS['English prose']!
    expect(estimateTokens(text) / realTokens(text)).toBeLessThan(1.25)
  })

  test('is zero for an empty text', () => {
    expect(estimateTokens('')).toBe(0)
  })
})

describe('a common word', () => {
  test('is one token in every vocabulary, whatever precedes it', () => {
    const words = COMMON_WORDS.split(/\s+/)
    const forms = (word: string) => [word, ` ${word}`, capital(word), ` ${capital(word)}`]
    expect(words.filter((word) => forms(word).some((form) => realTokens(form) !== 1))).toEqual([])
    expect(new Set(words).size).toBe(words.length)
  })
})

function capital(word: string): string {
  return word[0]!.toUpperCase() + word.slice(1)
}
