import { isLogLine } from '../../text/log-line.ts'

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
