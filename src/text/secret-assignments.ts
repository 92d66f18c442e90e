import { lazily } from './lazily.ts'
import { givesSecret } from './secret-values.ts'

const WORDS =
  'passw(?:or)?d|passphrase|secret|token|authorization|(?:api|access|account|private|auth|signing|encryption|master)[_-]?key'
// `token_count` is no token, `SECRET_KEY_BASE` is a secret.
const TAIL =
  '(?:[_-]?(?:key|value|base|token|secret|production|prod|live|dev|test|staging|[0-9]{1,2})){0,2}'

// In every one of the words: most texts need none of the long patterns compiled.
const HINT = /pass|secret|token|authorization|key/i

const KEY_AND_SIGN = lazily(
  () =>
    new RegExp(
      // A closing bracket only after a quote (`env["TOKEN"] =`), so that our own mark is never a name.
      `(?:${WORDS})${TAIL}(?:\\\\{0,3}["'\`]\\]?)?([ \\t]{0,8})(?::=|={1,3}>?|:)([ \\t]{0,8})`,
      'iy',
    ),
)
const OPTION = lazily(() => new RegExp(`--[a-z-]{0,24}(?:${WORDS})[ \\t]{1,4}`, 'iy'))
const WORD = lazily(() => new RegExp(WORDS, 'gi'))
const WHOLE_KEY = lazily(() => new RegExp(`(?:${WORDS})${TAIL}$`, 'i'))

const MAX_OPTION = 26

const OPENING = /(\\{0,3})(["'`])/y
const BARE = /[^\s"'`,;<>(){}[\]|&\\]{1,128}/y
const BARE_REST = /[^\s"'`,;<>(){}[\]|&\\]*/y

export interface FoundSecret {
  readonly kind: string
  readonly start: number
  readonly end: number
}

export function* findAssignedSecrets(text: string): Generator<FoundSecret> {
  if (!HINT.test(text)) return
  let from = 0
  for (const { 0: word, index } of text.matchAll(WORD())) {
    if (index < from) continue
    const found = assignedAt(text, index, word) ?? optionAt(text, index, word)
    if (found === undefined) continue
    from = found.end
    yield found
  }
}

export function kindOfKey(key: string): string | undefined {
  const word = HINT.test(key) ? WHOLE_KEY().exec(key)?.[0] : undefined
  return word === undefined ? undefined : kindOf(word)
}

function assignedAt(text: string, index: number, word: string) {
  const pattern = KEY_AND_SIGN()
  pattern.lastIndex = index
  const match = pattern.exec(text)
  if (match === null) return undefined
  const [whole, before = '', after = ''] = match
  const isTight = before === '' && after === ''
  return valueAt(text, index + whole.length, {
    key: keyBefore(text, index) + word,
    kind: kindOf(word),
    isTight,
    isStrict: false,
  })
}

// `--token value` has no sign between, so only a value that is hardly a word counts.
function optionAt(text: string, index: number, word: string) {
  // Only a little way back, or it would be quadratic.
  const window = Math.max(0, index - MAX_OPTION)
  const dashes = window + text.slice(window, index).lastIndexOf('--')
  if (dashes < window) return undefined
  const pattern = OPTION()
  pattern.lastIndex = dashes
  const match = pattern.exec(text)
  if (match === null || dashes + match[0].length <= index) return undefined
  return valueAt(text, dashes + match[0].length, {
    key: word,
    kind: kindOf(word),
    isTight: false,
    isStrict: true,
  })
}

interface Name {
  readonly key: string
  readonly kind: string
  readonly isTight: boolean
  readonly isStrict: boolean
}

function valueAt(text: string, at: number, { key, kind, isTight, isStrict }: Name) {
  OPENING.lastIndex = at
  const opening = OPENING.exec(text)
  if (opening !== null) {
    const [whole, escape = '', quote = ''] = opening
    const start = at + whole.length
    const end = endOfQuoted(text, start, quote, escape !== '')
    const isSecret = givesSecret({
      key,
      value: text.slice(start, end),
      isQuoted: !isStrict,
      isTight,
    })
    return isSecret ? { kind, start, end } : undefined
  }
  BARE.lastIndex = at
  const value = BARE.exec(text)?.[0].replace(/\.$/, '') ?? ''
  const next = text[at + value.length]
  // A call or a type, not a value.
  if (next === '(' || next === '<') return undefined
  if (!givesSecret({ key, value, isQuoted: false, isTight })) return undefined
  // Judged by its beginning, so that a hostile run is not read again for every name in it.
  BARE_REST.lastIndex = at + value.length
  const rest = BARE_REST.exec(text)?.[0] ?? ''
  return { kind, start: at, end: at + value.length + (rest === '.' ? 0 : rest.length) }
}

// A quote opened escaped is closed escaped; in any other, an escaped quote is part of the value.
function endOfQuoted(text: string, start: number, quote: string, isEscaped: boolean) {
  let at = start
  while (at < text.length && text[at] !== quote && text[at] !== '\n')
    at += !isEscaped && text[at] === '\\' ? 2 : 1
  const value = text.slice(start, at)
  return start + (isEscaped ? value.replace(/\\{1,3}$/, '') : value).length
}

function keyBefore(text: string, index: number) {
  return /[A-Za-z0-9_]*$/.exec(text.slice(Math.max(0, index - 32), index))?.[0] ?? ''
}

function kindOf(word: string) {
  if (/pass/i.test(word)) return 'password'
  if (/token|authorization/i.test(word)) return 'token'
  return /key/i.test(word) ? 'key' : 'secret'
}
