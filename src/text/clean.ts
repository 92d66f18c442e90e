// Text that is about to be journalled is shown later in terminals, documents and prompts, so whatever
// could steer a terminal or reorder what a reader sees is taken out once, here.

// Each alternative stops at the next escape or line end, so that an unfinished sequence costs one look
// and swallows nothing but its own line.
const ESCAPE_SEQUENCES =
  /(?:\u001B\[|\u009B)[0-?]*[ -/]*[@-~]|(?:\u001B[\]PX^_]|[\u0090\u0098\u009D-\u009F])[^\u0007\u001B\u009C\r\n]*(?:\u0007|\u001B\\|\u009C)|\u001B[ -/]*[0-~]/g

const CONTROLS =
  /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u0084\u0086-\u009F\u202A-\u202E\u2066-\u2069]/g

const LINE_ENDS = /\r\n|[\r\u0085\u2028\u2029]/g

/** Brings text into the one form that is journalled: plain lines, well-formed, without controls. Cleaning twice changes nothing. */
export function cleanText(text: string): string {
  return joinLines(withoutControls(text).split('\n'))
}

/** Text as it may be shown on a terminal, its spaces and lines as they are. */
export function withoutControls(text: string): string {
  const formed = text.toWellFormed()
  // Every escape sequence has a control in it.
  const plain =
    formed.search(CONTROLS) < 0
      ? formed
      : formed.replace(ESCAPE_SEQUENCES, '').replace(CONTROLS, '')
  return plain.replace(LINE_ENDS, '\n')
}

/** Text on a single line, its lines joined by a space. */
export function oneLine(text: string): string {
  return cleanText(text)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ')
}

/** A short name of `[a-z0-9-]` for text in any script; never empty, and never able to leave a folder. */
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
  // A first word that is too long by itself is cut, since half a name still says more than none.
  return kept.join('-') || (words[0] ?? '').slice(0, Math.max(max, 0)) || 'session'
}

/** Text of at most `max` characters (UTF-16 units, as `length` counts), cut at a word where one is near. */
export function shorten(text: string, max: number): string {
  if (text.length <= max) return text
  if (max <= 0) return ''
  let cut = text.slice(0, max - 1)
  // Half a surrogate pair is not a character.
  if (/[\uD800-\uDBFF]$/.test(cut)) cut = cut.slice(0, -1)
  const wordEnds = /\s/.test(text[cut.length] ?? '') ? cut.length : cut.search(/\s\S*$/)
  // A word that fills more than half of the room is cut rather than left out.
  if (wordEnds > max / 2) cut = cut.slice(0, wordEnds)
  return `${cut.trimEnd()}…`
}

// Letters that Unicode does not decompose into a Latin letter and a mark.
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

function joinLines(lines: readonly string[]): string {
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
