import type { FoundSecret } from './secret-assignments.ts'

const BEGIN = /-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g
const BEGIN_MARK = '-----BEGIN '
const END_MARK = '-----END '
const END_LINE = /-----END [A-Z0-9 ]{1,48}-----/y
// What a viewer, a diff or a quotation puts before a line, and escaped line ends.
const BETWEEN =
  /(?:[\s>|:+→-]|\\[nrt]|\d{1,6}(?:→|\t|: )|(?:Proc-Type|DEK-Info|Version|Comment|Hash):[^\n\\]{0,200})*/y
const BODY = /[A-Za-z0-9+/=]{16,}|[A-Za-z0-9+/]{1,15}(?:={1,2}|(?=$|\.{3}|…))/y
const MAX_KEY = 32_768

/** Walked by hand: a pattern would be quadratic on a text of beginnings. A mention of the first line alone is no key. */
export function* findPrivateKeys(text: string): Generator<FoundSecret> {
  let end = -1
  let from = 0
  for (const { 0: begin, index } of text.matchAll(BEGIN)) {
    if (index < from) continue
    const body = index + begin.length
    if (end !== Infinity && end < body) end = indexOrInfinity(text, END_MARK, body)
    const isWhole = end - body <= MAX_KEY && end < indexOrInfinity(text, BEGIN_MARK, body)
    const stop = isWhole ? endOfLine(text, end) : endOfBody(text, body)
    if (stop <= body || isBlank(text.slice(body, Math.min(end, stop)))) continue
    from = stop
    yield { kind: 'private-key', start: index, end: stop }
  }
}

function indexOrInfinity(text: string, mark: string, from: number) {
  const at = text.indexOf(mark, from)
  return at < 0 ? Infinity : at
}

function endOfLine(text: string, end: number) {
  END_LINE.lastIndex = end
  return end + (END_LINE.exec(text)?.[0].length ?? END_MARK.length)
}

function endOfBody(text: string, body: number) {
  let at = body
  for (;;) {
    BETWEEN.lastIndex = at
    BODY.lastIndex = at + (BETWEEN.exec(text)?.[0].length ?? 0)
    const start = BODY.lastIndex
    const line = BODY.exec(text)
    if (line === null) return at
    at = start + line[0].length
  }
}

// As in a program that looks for keys.
function isBlank(body: string) {
  return !/[A-Za-z0-9+/=]{16}/.test(body)
}
