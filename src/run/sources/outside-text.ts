// What other programs and people wrote, before it is shown, put into a prompt or made a name of.
import type { ChecklistItem } from '../../session/entries.ts'
import { cleanText, oneLine, shorten } from '../../text/clean.ts'

export const LONGEST_TITLE = 200
export const LONGEST_PASSAGE = 20_000
const LONGEST_LABEL = 80
const LONGEST_ITEM = 300
const MOST_LABELS = 50
const MOST_ITEMS = 200

/** A title on one line. It is not a heading or a list item, whatever it was written as. */
export function outsideTitle(text: string): string {
  return shorten(oneLine(text).replace(/^(?:(?:#{1,6}|[-*+>])\s+)+/, ''), LONGEST_TITLE)
}

// Every prompt about a task begins with such a line, and no text of a task may pass for another beginning.
const LIKE_A_PROMPT = /^([ \t]*)(#+[ \t]*Task\b)/gim

export function outsidePassage(text: string): string {
  return shorten(cleanText(text), LONGEST_PASSAGE).replaceAll(LIKE_A_PROMPT, '$1\\$2')
}

export function outsideLabels(labels: readonly string[]): readonly string[] {
  const lines = labels
    .map((label) => shorten(oneLine(label), LONGEST_LABEL))
    .filter((label) => label !== '')
  return [...new Set(lines)].slice(0, MOST_LABELS)
}

export function outsideChecklist(items: readonly ChecklistItem[]): readonly ChecklistItem[] {
  return items
    .map(({ item, done }) => ({ item: shorten(oneLine(item), LONGEST_ITEM), done }))
    .filter(({ item }) => item !== '')
    .slice(0, MOST_ITEMS)
}
