const MAX_LENGTH = 16_000

/** Sentences, lines and list items of prose, in their original wording. */
export function splitSentences(text: string): readonly string[] {
  return text
    .slice(0, MAX_LENGTH)
    .split(/\n+|(?<=[.!?])\s+/)
    .map((sentence) => sentence.trim())
    .filter(Boolean)
}
