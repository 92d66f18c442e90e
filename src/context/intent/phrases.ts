import { lazily } from '../../text/lazily.ts'

/** Longer prompts contain pasted text. */
const MAX_PROSE = 1200

/** False for slash commands and for messages of the harness. */
export function isWrittenByUser(prompt: string): boolean {
  return !/^\s*(?:[/<]|\[Request interrupted)/.test(prompt)
}

let last = { prompt: '', words: '' }

/** Lowercase, without code and logs; only both ends of a long prompt. */
export function normalisePrompt(prompt: string): string {
  if (last.prompt !== prompt) last = { prompt, words: proseIn(prompt) }
  return last.words
}

function proseIn(prompt: string) {
  const words = prompt
    .replaceAll(/```[^]*?(?:```|$)/g, '\n')
    .split('\n')
    .filter((line) => !isLogLine(line))
    .join('\n')
    .trim()
  const near =
    words.length <= MAX_PROSE
      ? words
      : `${words.slice(0, MAX_PROSE / 2)}\n${words.slice(-MAX_PROSE / 2)}`
  const plain = near.toLowerCase().replaceAll(/[’‘`´]/g, "'")
  if (!MISSING_APOSTROPHES.some((word) => plain.includes(word))) return plain
  return plain.replaceAll(/\b(what|where|let|that)s\b/g, "$1's").replaceAll(/\bdont\b/g, "don't")
}

const MISSING_APOSTROPHES = ['whats', 'wheres', 'lets', 'thats', 'dont']

export function sentencesOf(words: string): readonly string[] {
  return (words.match(/(?:[^.!?\n。！？]|[.](?=\S))+[.!?。！？]*/g) ?? [])
    .map((sentence) => sentence.trim())
    .filter(Boolean)
}

function isLogLine(line: string) {
  // Avoids the pattern for almost every line of prose.
  const first = line.trimStart().slice(0, 9).toLowerCase()
  const mayBe = first < 'a' || first >= '{' || line.includes(':') || line.includes(']')
  return (
    first !== '' &&
    (mayBe || LOG_PREFIXES.some((word) => first.startsWith(word))) &&
    LOG_LINE().test(line)
  )
}

const LOG_PREFIXES = ['at ', 'file "', 'traceback', 'npm ']
const LOG_LINE = lazily(
  () =>
    /^\s*(?:\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|\[?(?:info|warn|warning|error|debug|trace|fatal)\b[\]:]|at \S+ ?\(|File "|Traceback|npm (?:err|warn)|[$>#%] |[+-]{3} |@@|[{}[\]]|\w+Error:|\S+:\d+:\d+)/i,
)

/**
 * Patterns keyed by words separated by bars, one of which every match contains. Compiling all
 * patterns would take longer than the rest of the prompt hook.
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
