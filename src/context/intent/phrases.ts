import { lazily } from '../../text/lazily.ts'

/** What is longer has a text pasted into it. */
const SPOKEN = 1200

/** Whether a person wrote a prompt: it is no command or message of the harness. */
export function isWrittenByUser(prompt: string): boolean {
  return !/^\s*(?:[/<]|\[Request interrupted)/.test(prompt)
}

let last = { prompt: '', words: '' }

/** Without code and logs, in small letters; of a long prompt the beginning and the end. */
export function normalisePrompt(prompt: string): string {
  if (last.prompt !== prompt) last = { prompt, words: wordsIn(prompt) }
  return last.words
}

function wordsIn(prompt: string) {
  const words = prompt
    .replaceAll(/```[^]*?(?:```|$)/g, '\n')
    .split('\n')
    .filter((line) => !isLogLine(line))
    .join('\n')
    .trim()
  const near =
    words.length <= SPOKEN ? words : `${words.slice(0, SPOKEN / 2)}\n${words.slice(-SPOKEN / 2)}`
  const plain = near.toLowerCase().replaceAll(/[’‘`´]/g, "'")
  if (!CARELESS.some((word) => plain.includes(word))) return plain
  return plain.replaceAll(/\b(what|where|let|that)s\b/g, "$1's").replaceAll(/\bdont\b/g, "don't")
}

const CARELESS = ['whats', 'wheres', 'lets', 'thats', 'dont']

export function sentencesOf(words: string): readonly string[] {
  return (words.match(/(?:[^.!?\n。！？]|[.](?=\S))+[.!?。！？]*/g) ?? [])
    .map((sentence) => sentence.trim())
    .filter(Boolean)
}

function isLogLine(line: string) {
  // Almost every line that a person writes needs no pattern.
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

/**
 * Patterns by words, divided by bars, of which one is always in the text. Making all the patterns would take longer than the rest of a
 * prompt's hook.
 */
export type Phrases = Readonly<Record<string, () => RegExp>>

export function matchesPhrases(phrases: Phrases, text: string): boolean {
  return Object.entries(phrases).some(
    ([words, pattern]) => hasOneOf(words, text) && pattern().test(text),
  )
}

export function mayMatchPhrases(phrases: Phrases, text: string): boolean {
  return Object.keys(phrases).some((words) => hasOneOf(words, text))
}

function hasOneOf(words: string, text: string) {
  return words.split('|').some((word) => text.includes(word))
}
