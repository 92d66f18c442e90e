// Needs no vocabulary, which would take longer to load than everything else a hook does. The rates
// are measured against Claude's vocabulary and rounded up: for English by the average of its words,
// for everything else by those of random text.
import { firstFalse } from './bisect.ts'
import { COMMON_WORDS } from './common-words.ts'

const COMMON: ReadonlySet<string> = new Set(COMMON_WORDS.split(/\s+/))

/** What the rates may miss in a short text. */
export const TOKEN_MARGIN = 4

export function estimateTokens(text: string): number {
  return text === ''
    ? 0
    : text.split('\n').reduce((sum, line) => sum + estimateLine(line), TOKEN_MARGIN)
}

/** Estimates of lines can be added up. */
export function estimateLine(line: string): number {
  let total = 1
  let before: Kind = 'sign'
  const perLetter = isEnglish(line) ? ENGLISH_PER_LETTER : OTHER_PER_LETTER
  for (let at = 0, end = 0; at < line.length; at = end) {
    const code = line.charCodeAt(at)
    const kind = KINDS.get(code) ?? 'sign'
    end = endOfRun(line, at, kind)
    // A space belongs to the token of the next word only in Latin script.
    const lone = Number(before === 'space')
    if (kind === 'space') total += end - at === 1 ? 0 : 1 + (end - at) / 8
    else if (kind === 'digit') total += lone * LONE_NUMBER + Math.ceil((end - at) / 2)
    else if (kind !== 'sign')
      total +=
        tokensOfWord(line.slice(at, end), perLetter) +
        (before === 'small' || before === 'capital' ? JOINED : 0)
    else total += code < 128 ? 1 : lone + tokensOfCharacter(line.codePointAt(at)!)
    before = kind
  }
  return Math.ceil(total + Number(before === 'space'))
}

type Kind = 'space' | 'digit' | 'small' | 'capital' | 'sign'

const KINDS: ReadonlyMap<number, Kind> = new Map([
  [32, 'space' as const],
  ...charactersOf('0123456789', 'digit'),
  ...charactersOf('abcdefghijklmnopqrstuvwxyz', 'small'),
  ...charactersOf('ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'capital'),
])

function charactersOf(characters: string, kind: Kind): readonly (readonly [number, Kind])[] {
  return [...characters].map((character) => [character.charCodeAt(0), kind])
}

/** Not a pattern, which takes many times as long. */
function endOfRun(line: string, at: number, kind: Kind): number {
  if (kind === 'sign') return at + (line.codePointAt(at)! > 0xffff ? 2 : 1)
  let end = at + 1
  const isKind = (wanted: Kind) => end < line.length && KINDS.get(line.charCodeAt(end)) === wanted
  const rest = kind === 'capital' && isKind('small') ? 'small' : kind
  while (isKind(rest)) end += 1
  return end
}

/** Joined words are not always split where they meet. */
const JOINED = 0.1

/** Tokens per letter after the third of a word that is not common. */
const ENGLISH_PER_LETTER = 0.08
const OTHER_PER_LETTER = 0.52

/** Of a number after a space: the space is rarely a token of its own. */
const LONE_NUMBER = 0.3

/** Every third word is common, and one is of no other language: prose, not a list of names. */
function isEnglish(line: string): boolean {
  const words = line.match(WORDS) ?? []
  const common = words.filter((word) => COMMON.has(word.toLowerCase())).length
  return words.length >= 3 && 3 * common >= words.length && ENGLISH.test(line)
}

const WORDS = /[A-Za-z]+/g
const ENGLISH = /\b(?:the|and|of|to|is|are|was|for|with|that|not|by|from|this|it)\b/i

function tokensOfWord(word: string, perLetter: number): number {
  if (word.length === 1) return 1
  if (!/[a-z]/.test(word)) return 0.7 * word.length
  if (COMMON.has(word.toLowerCase())) return 1
  if (!isPronounceable(word)) return 0.75 * word.length
  return word.length <= 3 ? 1.1 : 1.1 + (word.length - 3) * perLetter
}

function isPronounceable(word: string): boolean {
  return /[aeiouy]/i.test(word) && !/[bcdfghjklmnpqrstvwxz]{4}|[aeiou]{4}|q[^u]/i.test(word)
}

/** Tokens per character, up to and including a code point; one per byte where nothing better is known. */
const RATES: readonly (readonly [upTo: number, rate: number])[] = [
  [0x40f, 2],
  [0x44f, 1.25], // Cyrillic
  [0x5cf, 2],
  [0x5ea, 1.6], // Hebrew
  [0xe7f, 2], // Arabic, the scripts of India, Thai
  [0x200a, 3],
  [0x206f, 2], // punctuation
  [0x24ff, 3],
  [0x259f, 2], // frames
  [0x3000, 3],
  [0x30ff, 1.9], // Japanese syllables
  [0x4dff, 3],
  [0x9fff, 2.55], // Chinese characters
  [0xabff, 3],
  [0xd7a3, 2.75], // Korean syllables
  [0xffff, 3],
  [0x1efff, 4],
  [0x1faff, 3], // emoji
]

function tokensOfCharacter(code: number): number {
  return RATES[firstFalse(RATES.length, (index) => code > RATES[index]![0])]?.[1] ?? 4
}
