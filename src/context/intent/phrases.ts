/**
 * A way to say something, and the words of which one is always in it. To look for words costs nothing; a pattern has to
 * be made and prepared first, and doing so for all there are would take longer than anything else a prompt makes us do.
 */
export interface Phrase {
  readonly words: readonly string[]
  readonly pattern: () => RegExp
}

/** The words are divided by bars. */
export function phrase(words: string, pattern: () => RegExp): Phrase {
  return { words: words.split('|'), pattern }
}

/** Whether one of the phrases is said in a text of small letters. */
export function isSaid(phrases: readonly Phrase[], text: string): boolean {
  return phrases.some((phrase) => couldBe(phrase, text) && phrase.pattern().test(text))
}

/** Whether the text has the words of any of the phrases. */
export function couldBeSaid(phrases: readonly Phrase[], text: string): boolean {
  return phrases.some((phrase) => couldBe(phrase, text))
}

function couldBe({ words }: Phrase, text: string): boolean {
  return words.some((word) => text.includes(word))
}
