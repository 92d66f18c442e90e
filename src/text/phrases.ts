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
