// What a text will cost a model, without a vocabulary: loading one takes longer than everything else a hook does.
// The rates are those of random text of each kind, the dearest there is, so that prose is overestimated and
// nothing is underestimated.
import { COMMON_WORDS } from './common-words.ts'

const PIECES = /[A-Z]?[a-z]+|[A-Z]+|[0-9]+| +|[^]/gu
const COMMON: ReadonlySet<string> = new Set(COMMON_WORDS.split(/\s+/))

/** What a rate that holds for texts may miss in a few words. */
export const MARGIN = 4

/** At least as many tokens as a vocabulary makes of the text. */
export function estimateTokens(text: string): number {
  return text === '' ? 0 : text.split('\n').reduce((sum, line) => sum + estimateLine(line), MARGIN)
}

/** The part of a text's tokens that one of its lines has, its end included; these add up. */
export function estimateLine(line: string): number {
  let total = 0
  let isAfterSpace = false
  let isAfterWord = false
  for (const piece of line.match(PIECES) ?? []) {
    const first = piece.charCodeAt(0)
    if (first === SPACE) {
      total += piece.length === 1 ? 0 : 1 + piece.length / 8
      isAfterSpace = true
      isAfterWord = false
      continue
    }
    const isWord = isLetter(first)
    if (isWord) total += tokensOfWord(piece) + (isAfterWord ? JOINED : 0)
    else if (isDigit(first)) total += Number(isAfterSpace) + Math.ceil(piece.length / 2)
    else if (first < 128) total += 1
    // A space joins the word behind it in Latin script alone.
    else total += Number(isAfterSpace) + tokensOfCharacter(piece.codePointAt(0)!)
    isAfterSpace = false
    isAfterWord = isWord
  }
  // One for the line's end, and one for a space that no word follows.
  return Math.ceil(total + 1 + Number(isAfterSpace))
}

const SPACE = 32
/** Words that run into each other are not always cut where they meet. */
const JOINED = 0.1

function isLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90)
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

function tokensOfWord(word: string): number {
  if (word.length === 1 || COMMON.has(word.toLowerCase())) return 1
  if (!/[a-z]/.test(word)) return 0.7 * word.length
  if (!isPronounceable(word)) return 0.75 * word.length
  return word.length <= 3 ? 1.1 : 1.1 + (word.length - 3) * 0.52
}

function isPronounceable(word: string): boolean {
  return /[aeiouy]/i.test(word) && !/[bcdfghjklmnpqrstvwxz]{4}|[aeiou]{4}|q[^u]/i.test(word)
}

/** Up to and including which character, how many tokens each. Where no rate is known, one for each byte. */
const RATES: readonly (readonly [upTo: number, rate: number])[] = [
  [0x40f, 2],
  [0x44f, 1.25], // Cyrillic
  [0x5cf, 2],
  [0x5ea, 1.6], // Hebrew
  [0x8ff, 2],
  [0xe7f, 2], // the scripts of India, and Thai
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
  [0x10ffff, 4],
]

function tokensOfCharacter(code: number): number {
  return RATES.find(([upTo]) => code <= upTo)![1]
}
