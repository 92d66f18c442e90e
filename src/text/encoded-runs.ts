// Base64 of ASCII: of four characters, the first holds the top bits of a printable character or a line end.
const ENCODED = /(?:[CDI-Za-f][A-Za-z0-9+/]{3}){6}/y
const LENGTH = 24

/** Where text in base64 may begin, without reading more than one character in 24 of ordinary text. */
export function* encodedStarts(text: string): Generator<number> {
  for (let at = LENGTH - 1; at < text.length; at += LENGTH) {
    if (!isBase64(text.charCodeAt(at))) continue
    let start = at
    while (start > 0 && isBase64(text.charCodeAt(start - 1))) start -= 1
    let end = at + 1
    while (end < text.length && isBase64(text.charCodeAt(end))) end += 1
    // Behind an escaped line end (`\n`) the run has a letter too many.
    const first = text[start - 1] === '\\' ? start + 1 : start
    ENCODED.lastIndex = first
    if (end - first >= LENGTH && ENCODED.test(text)) yield first
    at = Math.max(at, end - 1)
  }
}

function isBase64(code: number) {
  return (
    (code >= 97 && code <= 122) ||
    (code >= 65 && code <= 90) ||
    (code >= 47 && code <= 57) ||
    code === 43
  )
}
