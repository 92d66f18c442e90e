// How a prompt is read before anything is looked for in it.

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
    .filter((line) => !LOG_LINE.test(line))
    .join('\n')
    .trim()
  const near = words.length <= SPOKEN ? words : `${words.slice(0, SPOKEN / 2)}\n${words.slice(-SPOKEN / 2)}`
  return near
    .toLowerCase()
    .replaceAll(/[’‘`´]/g, "'")
    .replaceAll(/\b(what|where|let|that)s\b/g, "$1's")
    .replaceAll(/\bdont\b/g, "don't")
}

/** The sentences of a text, each with the sign it ends in. */
export function sentencesOf(words: string): readonly string[] {
  return (words.match(/(?:[^.!?\n。！？]|[.](?=\S))+[.!?。！？]*/g) ?? []).map((sentence) => sentence.trim()).filter(Boolean)
}

// Times, levels, stack frames, shell prompts, diffs and JSON: what programs print.
const LOG_LINE =
  /^\s*(?:\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|\[?(?:info|warn|warning|error|debug|trace|fatal)\b[\]:]|at \S+ ?\(|File "|Traceback|npm (?:err|warn)|[$>#%] |[+-]{3} |@@|[{}[\]]|\w+Error:|\S+:\d+:\d+)/i
