// How to get back from what was written to what was there. Kept instead of a copy of the file, because settings
// may hold keys and passwords.

/** In the text as it was written: the piece at this place becomes that one. */
export interface UndoStep {
  readonly at: number
  readonly length: number
  readonly text: string
}

/** The steps back, the first one first, through texts that are one edit apart. */
export function undoSteps(texts: readonly string[]): readonly UndoStep[] {
  return texts
    .slice(1)
    .map((after, index) => stepBack(texts[index]!, after))
    .toReversed()
}

export function undo(text: string, steps: readonly UndoStep[]): string {
  return steps.reduce(
    (rest, step) => rest.slice(0, step.at) + step.text + rest.slice(step.at + step.length),
    text,
  )
}

function stepBack(before: string, after: string): UndoStep {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before[start] === after[start]) start += 1
  let end = 0
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end += 1
  return {
    at: start,
    length: after.length - start - end,
    text: before.slice(start, before.length - end),
  }
}
