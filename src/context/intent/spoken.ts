// How a prompt is read before anything is looked for in it.
import { lazily } from '../../text/lazily.ts'

/** Longer than what a person says about how to work; what is longer has a text pasted into it. */
const SPOKEN = 1200

/** Whether a prompt was said by a person: not a command of the harness, not a message that it made. */
export function isSpoken(prompt: string): boolean {
  return !/^\s*(?:[/<]|\[Request interrupted)/.test(prompt)
}

// Several questions are asked about one prompt, one after the other.
let last = { prompt: '', words: '' }

/** The words of a prompt without code and logs, in small letters; of a long one the beginning and the end. */
export function spokenWords(prompt: string): string {
  if (last.prompt !== prompt) last = { prompt, words: wordsIn(prompt) }
  return last.words
}

function wordsIn(prompt: string): string {
  const words = prompt
    .replaceAll(/```[^]*?(?:```|$)/g, '\n')
    .split('\n')
    .filter((line) => !isLogLine(line))
    .join('\n')
    .trim()
  const near =
    words.length <= SPOKEN ? words : `${words.slice(0, SPOKEN / 2)}\n${words.slice(-SPOKEN / 2)}`
  const plain = near.toLowerCase().replaceAll(/[’‘`´]/g, "'")
  // Made only where there is something to mend.
  if (!CARELESS.some((word) => plain.includes(word))) return plain
  return plain.replaceAll(/\b(what|where|let|that)s\b/g, "$1's").replaceAll(/\bdont\b/g, "don't")
}

const CARELESS = ['whats', 'wheres', 'lets', 'thats', 'dont']

/** The sentences of a text, each with the sign it ends in. */
export function sentencesOf(words: string): readonly string[] {
  return (words.match(/(?:[^.!?\n。！？]|[.](?=\S))+[.!?。！？]*/g) ?? [])
    .map((sentence) => sentence.trim())
    .filter(Boolean)
}

/** What programs print: times, levels, stack frames, shell prompts, diffs and JSON. */
function isLogLine(line: string): boolean {
  // Almost every line that a person writes begins with a letter and has none of these in it, and needs no pattern.
  const first = line.trimStart().slice(0, 9).toLowerCase()
  const mayBe = first < 'a' || first >= '{' || line.includes(':') || line.includes(']')
  return (
    first !== '' &&
    (mayBe || PRINTED.some((word) => first.startsWith(word))) &&
    LOG_LINE().test(line)
  )
}

const PRINTED = ['at ', 'file "', 'traceback', 'npm ']
const LOG_LINE = lazily(
  () =>
    /^\s*(?:\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|\[?(?:info|warn|warning|error|debug|trace|fatal)\b[\]:]|at \S+ ?\(|File "|Traceback|npm (?:err|warn)|[$>#%] |[+-]{3} |@@|[{}[\]]|\w+Error:|\S+:\d+:\d+)/i,
)
