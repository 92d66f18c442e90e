// Removes what could steer a terminal or reorder what a reader sees, before text is journalled.

// Each alternative stops at the next escape or line end, so an unfinished sequence swallows only its own line.
const ESCAPE_SEQUENCES =
  /(?:\u001B\[|\u009B)[0-?]*[ -/]*[@-~]|(?:\u001B[\]PX^_]|[\u0090\u0098\u009D-\u009F])[^\u0007\u001B\u009C\r\n]*(?:\u0007|\u001B\\|\u009C)|\u001B[ -/]*[0-~]/g

const CONTROLS =
  /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u0084\u0086-\u009F\u202A-\u202E\u2066-\u2069]/g

const LINE_ENDS = /\r\n|[\r\u0085\u2028\u2029]/g

/** Idempotent. */
export function cleanText(text: string): string {
  return joinLines(withoutControls(text).split('\n'))
}

export function withoutControls(text: string): string {
  const formed = text.toWellFormed()
  // Every escape sequence contains a control character.
  const plain =
    formed.search(CONTROLS) < 0
      ? formed
      : formed.replace(ESCAPE_SEQUENCES, '').replace(CONTROLS, '')
  return plain.replace(LINE_ENDS, '\n')
}

export function oneLine(text: string): string {
  return cleanText(text)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ')
}

/** `[a-z0-9-]` for text in any script; never empty, and never able to leave a folder. */
export function slug(text: string, max = 40): string {
  const latin = text
    .toWellFormed()
    .toLowerCase()
    .replace(/[ßæøœđłþðı]/g, (letter) => UNDECOMPOSED[letter] ?? '')
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
  const words = latin.match(/[a-z0-9]+/g) ?? []
  const kept: string[] = []
  let length = 0
  for (const word of words) {
    length += word.length + (kept.length > 0 ? 1 : 0)
    if (length > max) break
    kept.push(word)
  }
  // A first word that is too long is cut, since half a name says more than none.
  return kept.join('-') || (words[0] ?? '').slice(0, Math.max(max, 0)) || 'session'
}

/** `max` counts UTF-16 units; cut at a word where one is near. */
export function shorten(text: string, max: number): string {
  if (text.length <= max) return text
  if (max <= 0) return ''
  let cut = text.slice(0, max - 1)
  // Half a surrogate pair is not a character.
  if (/[\uD800-\uDBFF]$/.test(cut)) cut = cut.slice(0, -1)
  const wordEnds = /\s/.test(text[cut.length] ?? '') ? cut.length : cut.search(/\s\S*$/)
  // A word that fills more than half is cut rather than dropped.
  if (wordEnds > max / 2) cut = cut.slice(0, wordEnds)
  return `${cut.trimEnd()}…`
}

// Unicode does not decompose these into a Latin letter and a mark.
const UNDECOMPOSED: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  ø: 'o',
  œ: 'oe',
  đ: 'd',
  ł: 'l',
  þ: 'th',
  ð: 'd',
  ı: 'i',
}

function joinLines(lines: readonly string[]) {
  const kept: string[] = []
  let blanks = 0
  for (const line of lines) {
    const trimmed = line.trimEnd()
    if (trimmed === '') {
      blanks += 1
      continue
    }
    if (kept.length > 0) for (let i = blanks > 2 ? 1 : blanks; i > 0; i -= 1) kept.push('')
    kept.push(trimmed)
    blanks = 0
  }
  return kept.join('\n')
}
