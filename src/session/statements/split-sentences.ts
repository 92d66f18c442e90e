import { lazily } from '../../text/lazily.ts'
import { type ProseLine, proseLines } from './prose-lines.ts'

/** Sentences, lines and list items of prose, in their original wording. */
export function splitSentences(message: string): readonly string[] {
  return proseLines(message).flatMap((line) => sentencesIn(line))
}

function sentencesIn({ text }: ProseLine) {
  const closed = closedParts(text)
  const sentences: string[] = []
  let start = 0
  let part = 0
  for (const end of text.matchAll(SENTENCE_END())) {
    const at = end.index
    while (part < closed.length && closed[part]!.to <= at) part += 1
    const inside = part < closed.length && closed[part]!.from <= at
    const to = at + end[0].length
    if (inside || !endsSentence(text, start, at, to)) continue
    push(sentences, text.slice(start, to))
    start = to
  }
  push(sentences, text.slice(start))
  return sentences
}

function push(sentences: string[], text: string) {
  const trimmed = text.trim()
  if (/[\p{L}\p{N}]/u.test(trimmed)) sentences.push(trimmed)
}

const SENTENCE_END = lazily(() => /[。！？]+[”’」』）"')\]]*|(?:[.!?…]+)["'”’»“)\]*_]*(?=\s|$)/g)

/** Code, quotations, parentheses and addresses, whose dots end nothing. */
function closedParts(text: string) {
  return [...text.matchAll(CLOSED())].map((match) => ({
    from: match.index,
    to: match.index + match[0].length,
  }))
}

const CLOSED = lazily(
  () =>
    /`[^`\n]{1,200}`|"[^"\n]{1,160}"|“[^”\n]{1,160}”|„[^“”\n]{1,160}[“”]|«[^»\n]{1,160}»|\([^()\n]{1,200}\)|https?:\/\/[^\s)]{1,300}[^\s).,!?]/g,
)

function endsSentence(text: string, start: number, at: number, to: number) {
  const mark = text[at]!
  if (mark !== '.') return true
  const before = text.slice(Math.max(start, at - 24), at)
  const after = text.slice(to, to + 24).trimStart()
  if (after === '') return true
  if (text.startsWith('..', at)) return /^[\p{Lu}\p{N}]/u.test(after)
  const word = /[\p{L}\p{N}.]+$/u.exec(before)?.[0] ?? ''
  if (/^\d{1,2}$/.test(word)) return !isOrdinal(before, after)
  if (/^(?:\p{L}\.)*\p{L}$/u.test(word) && word !== 'I') return !isInitial(before, word)
  const isShort = SHORT_FORMS.includes(` ${word.toLowerCase()} `)
  if (isShort) return false
  if (OPEN_SHORT_FORMS.includes(` ${word.toLowerCase()} `)) return /^\p{Lu}/u.test(after)
  if (NUMBERED_SHORT_FORMS.includes(` ${word.toLowerCase()} `)) return !/^\d/.test(after)
  return true
}

/** "am 14. Oktober", "the 3. item". */
function isOrdinal(before: string, after: string) {
  return (
    /(?:^|\s)(?:am|bis|vom|zum|im|ab|seit|der|die|das|den|dem|des|jeden|jedem|und)\s+\d{1,2}$/i.test(
      before,
    ) || MONTHS().test(after)
  )
}

const MONTHS = lazily(() => /^(?:jan|feb|mär|mar|apr|mai|jun|jul|aug|sep|okt|nov|dez)[a-zä]*\b/i)

/** "J. Smith" and "z. B."; "plan B." ends a sentence. */
function isInitial(before: string, word: string) {
  if (word.includes('.') || /(?:^|\s)\p{L}\.\s?\p{L}$/u.test(before)) return true
  return /^\p{Lu}$/u.test(word)
    ? !/\b(?:plan|option|variante?|approach|version|class|team|phase|step|type|group|part|opci[oó]n)\s\p{L}$/iu.test(
        before,
      )
    : FIRST_HALVES.includes(word)
}

/** First halves of German short forms: "z. B.", "d. h.", "u. a.". */
const FIRST_HALVES = 'zduiov'
const SHORT_FORMS =
  ' e.g eg i.e ie vs approx mr mrs ms dr prof sr sra mme st ca bzw inkl exkl ggf evtl z.b d.h u.a v.a o.ä p.ex cf env ' +
  'jr resp usw. vgl incl excl dept '
const OPEN_SHORT_FORMS = ' etc usw inc ltd co corp al a.m p.m '
const NUMBERED_SHORT_FORMS = ' no nr n.º núm p pp vol ch fig art '
