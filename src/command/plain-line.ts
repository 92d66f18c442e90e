import { singleQuoted } from './quote-word.ts'

// Harmless, and in every second command of an agent.
const QUIET = /(?:\d?>&\d|&>>? ?\/dev\/null|\d?>>? ?\/dev\/null|< ?\/dev\/null)(?=$|[\s;&|)])/g

/**
 * A line that is what it seems to whoever splits it into commands, with a message of several lines as one quoted word: no
 * command inside another, no file written by the shell, and no quotation that shells read in another way. Undefined for any
 * other.
 */
export function plainLine(line: string): string | undefined {
  if (/[\u0000-\u0008\u000B-\u001F\u007F]/.test(line)) return undefined
  let plain = ''
  // What stands outside of quotations; a letter stands for what is inside.
  let outside = ''
  let quote: string | undefined
  for (let at = 0; at < line.length; at += 1) {
    const char = line[at]!
    if (char === '#' && quote === undefined && /(?:^|[\s;&|()])$/.test(outside)) {
      // A quotation that begins in a comment is none.
      at = endOfLine(line, at) - 1
      continue
    }
    // Only where a quotation begins: inside another, the same letters are something else.
    const message = quote === undefined && char === '"' ? messageAt(line, at) : undefined
    if (message !== undefined) {
      plain += singleQuoted(message.text)
      outside += 'q'
      at = message.end - 1
      continue
    }
    if (quote !== "'" && (char === '`' || (char === '$' && isMoreThanName(line, at, quote))))
      return undefined
    const isEscaped = quote !== "'" && char === '\\'
    const isQuote = !isEscaped && (quote === undefined ? /['"]/.test(char) : char === quote)
    if (isQuote) quote = quote === undefined ? char : undefined
    plain += isEscaped ? line.slice(at, at + 2) : char
    outside += isEscaped || isQuote || quote !== undefined ? 'q' : char
    if (isEscaped) at += 1
  }
  // A blank of another script parts words for us and not for a shell.
  const isPlain = quote === undefined && !/[<>]|[^\S \t\n]/.test(outside.replace(QUIET, ''))
  return isPlain ? plain : undefined
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end === -1 ? text.length : end
}

/** `$name` and `${name}` are looked up. Everything else may run a command, or be assigned and run later. */
function isMoreThanName(line: string, at: number, quote: string | undefined): boolean {
  const next = line[at + 1] ?? ''
  if (next === '{') return !/^\$\{\w+(?:\[(?:\d+|@|\*)\])?\}/.test(line.slice(at, at + 200))
  return next === '(' || next === '[' || (quote === undefined && (next === "'" || next === '"'))
}

/**
 * How agents give several lines to `git commit -m`. The end is quoted, so that nothing in the lines is run; they end with the
 * first that is the end. A line that only begins with it ends them too in some shells, so there must be none.
 */
const MESSAGE = /"\$\(cat <<(-?) ?(['"])(\w+)\2\n((?:(?![ \t]*\3)[^\n]*\n)*)(\t*)\3\n[ \t\n]*\)"/y

function messageAt(
  line: string,
  at: number,
): { readonly text: string; readonly end: number } | undefined {
  MESSAGE.lastIndex = at
  const [found, dash = '', , , lines = '', tabs = ''] = MESSAGE.exec(line) ?? []
  if (found === undefined || (dash === '' && tabs !== '')) return undefined
  return {
    text: (dash === '' ? lines : lines.replace(/^\t+/gm, '')).replace(/\n+$/, ''),
    end: at + found.length,
  }
}
