import { lazily } from './lazily.ts'

interface SecretPattern {
  readonly kind: string
  /** The pattern is only tried when the text contains one of these. */
  readonly hints: readonly string[]
  /** The first group stays; the rest of the match is the secret. */
  readonly pattern: () => RegExp
  readonly isSpared?: (secret: string) => boolean
}

// Not inside a word, except after an escaped line end (`\n`). It keeps the search linear: one start in each run.
const START = String.raw`(?<!(?<!\\)[A-Za-z0-9_-])`
const END = String.raw`(?![A-Za-z0-9_-])`

// Patterns without START have a prefix that no ordinary text contains.
export const SECRET_PATTERNS: readonly SecretPattern[] = [
  secret(
    'aws-key-id',
    ['AKIA', 'ASIA', 'ABIA', 'ACCA'],
    `${START}(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}${END}`,
  ),
  {
    kind: 'aws-secret',
    hints: ['ecret'],
    pattern: () =>
      /(secret_?(?:access_?)?key\\{0,3}["']?\s{0,4}[:=]>?\s{0,4}\\{0,3}["']?)[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])/gi,
  },
  secret('github-token', ['github_pat_'], 'github_pat_[A-Za-z0-9_]{36,}'),
  secret(
    'github-token',
    ['ghp_', 'gho_', 'ghu_', 'ghr_', 'ghs_'],
    '(?:gh[pour]_[A-Za-z0-9]{36,}|ghs_[A-Za-z0-9_.-]{36,})',
  ),
  secret(
    'gitlab-token',
    ['gl'],
    'gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[A-Za-z0-9_.-]{20,}',
  ),
  secret(
    'slack-token',
    ['xox', 'xapp-'],
    '(?:xox[abdeoprs](?:\\.xox[a-z])?-|xapp-)[A-Za-z0-9-]{10,}',
  ),
  secret(
    'slack-webhook',
    ['hooks.slack.com/'],
    '(hooks\\.slack\\.com/(?:services|workflows|triggers)/)[A-Za-z0-9+/_-]{20,}',
  ),
  secret(
    'stripe-key',
    ['_live_', '_test_', 'whsec_'],
    `${START}(?:[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/]{24,}={0,2})`,
  ),
  secret('google-api-key', ['AIza'], `${START}AIza[A-Za-z0-9_-]{35}${END}`),
  secret('google-oauth', ['GOCSPX-', 'ya29.'], `${START}(?:GOCSPX-|ya29\\.)[A-Za-z0-9_-]{20,}`),
  secret('anthropic-key', ['sk-ant-'], `${START}sk-ant-[A-Za-z0-9_-]{20,}`),
  secret(
    'openai-key',
    ['sk-'],
    `${START}sk-(?:(?:proj|svcacct|admin|None|or-v1)-[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{32,})`,
  ),
  secret('npm-token', ['npm_'], `${START}npm_[A-Za-z0-9]{36,}`),
  secret('pypi-token', ['pypi-AgE'], 'pypi-AgE[A-Za-z0-9_-]{40,}'),
  secret('huggingface-token', ['hf_'], `${START}hf_[A-Za-z0-9]{30,}`),
  secret('sendgrid-key', ['SG.'], `${START}SG\\.[A-Za-z0-9_-]{16,32}\\.[A-Za-z0-9_-]{32,64}`),
  secret('twilio-key', ['SK'], `${START}SK[0-9a-f]{32}${END}`),
  secret(
    'discord-token',
    ['.'],
    `${START}[MNO][A-Za-z0-9_-]{22,27}\\.[A-Za-z0-9_-]{6}\\.[A-Za-z0-9_-]{27,45}${END}`,
  ),
  secret(
    'discord-webhook',
    ['/api/webhooks/'],
    '(discord(?:app)?\\.com/api/webhooks/\\d{5,25}/)[A-Za-z0-9_-]{20,}',
  ),
  secret('telegram-token', [':AA'], `${START}\\d{8,10}:AA[A-Za-z0-9_-]{33}${END}`),
  secret('digitalocean-token', ['_v1_'], 'do[opr]_v1_[0-9a-f]{64}'),
  secret('vault-token', ['hvs.', 'hvb.', 'hvr.'], `${START}hv[sbr]\\.[A-Za-z0-9_-]{24,}`),
  secret(
    'azure-key',
    ['AccountKey=', 'AccessKey='],
    '((?:Account|SharedAccess)Key=)[A-Za-z0-9+/]{40,}={0,2}',
  ),
  secret('jwt', ['eyJ'], `${START}eyJ[A-Za-z0-9_-]{8,}\\.eyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]{8,}`),
  secret('age-key', ['AGE-SECRET-KEY-'], 'AGE-SECRET-KEY-(?:[A-Z]{1,8}-)?1[0-9A-Z]{50,}'),
  secret(
    'api-key',
    ['gsk_', 'xai-', 'pplx-', 'lin_api_', 'shpat_', 'sbp_', 'dckr_pat_', 'rubygems_'],
    `${START}(?:gsk_|xai-|pplx-|lin_api_|shpat_|sbp_|dckr_pat_|rubygems_)[A-Za-z0-9_]{24,}`,
  ),
  {
    kind: 'password',
    hints: ['://'],
    // A password may hold anything up to the last @ of the host; one with a slash only counts in a database URL.
    pattern: () =>
      /([a-z][a-z0-9+.-]{1,20}:\/\/[^\s:@/'"`<>]{0,128}:)(?!\d{1,5}[/?#),;\]}])(?:[^\s/'"`<>]{1,256}|(?<=(?:sql|mongodb|redis|rediss|amqp|amqps|postgres|mariadb|srv):\/\/[^\s:@/'"`<>]{0,128}:)[^\s@'"`<>]{1,256})(?=@)/gi,
    isSpared: isPlaceholder,
  },
  {
    kind: 'authorization',
    hints: ['uthorization', 'UTHORIZATION'],
    pattern: () =>
      /(authorization\\{0,3}["']?\s{0,4}[:=,]\s{0,4}\\{0,3}["'`]?(?:bearer|basic|token|bot|apikey|negotiate)\s{1,4})[A-Za-z0-9._~+/-]{6,}={0,2}/gi,
    isSpared: (value) => isPlaceholder(value) || !looksRandom(value),
  },
  {
    kind: 'authorization',
    hints: ['earer', 'EARER'],
    pattern: () => /((?<![A-Za-z])bearer\s{1,4})[A-Za-z0-9._~+/-]{20,}={0,2}/gi,
    isSpared: (value) => isPlaceholder(value) || !/\d/.test(value),
  },
]

function secret(kind: string, hints: readonly string[], pattern: string) {
  return { kind, hints, pattern: lazily(() => new RegExp(pattern, 'g')) }
}

const WORDS =
  'passw(?:or)?d|passphrase|secret|token|authorization|(?:api|access|account|private|auth|signing|encryption|master)[_-]?key'
// `token_count` is no token, `SECRET_KEY_BASE` is a secret.
const TAIL =
  '(?:[_-]?(?:key|value|base|token|secret|production|prod|live|dev|test|staging|[0-9]{1,2})){0,2}'

// One of these is in every word above: most texts need none of the long patterns compiled.
const HINT = /pass|secret|token|authorization|key/i

const KEY_AND_SIGN = lazily(
  () =>
    new RegExp(
      // A closing bracket only after a quote (`env["TOKEN"] =`), so that our own redaction marker is never a key.
      `(?:${WORDS})${TAIL}(?:\\\\{0,3}["'\`]\\]?)?([ \\t]{0,8})(?::=|={1,3}>?|:)([ \\t]{0,8})`,
      'iy',
    ),
)
const OPTION = lazily(() => new RegExp(`--[a-z-]{0,24}(?:${WORDS})[ \\t]{1,4}`, 'iy'))
const WORD = lazily(() => new RegExp(WORDS, 'gi'))
const KEY_AT_END = lazily(() => new RegExp(`(?:${WORDS})${TAIL}$`, 'i'))

const MAX_OPTION_LENGTH = 26

const OPENING = /(\\{0,3})(["'`])/y
const UNQUOTED = /[^\s"'`,;<>(){}[\]|&\\]{1,128}/y
const UNQUOTED_REST = /[^\s"'`,;<>(){}[\]|&\\]*/y

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

export function secretKindOfKey(key: string): string | undefined {
  const word = HINT.test(key) ? KEY_AT_END().exec(key)?.[0] : undefined
  return word === undefined ? undefined : kindOf(word)
}

function assignedAt(text: string, index: number, word: string) {
  const pattern = KEY_AND_SIGN()
  pattern.lastIndex = index
  const match = pattern.exec(text)
  if (match === null) return undefined
  const [whole, before = '', after = ''] = match
  const isTight = before === '' && after === ''
  const key = keyBefore(text, index) + word
  return valueAt(text, index + whole.length, { key, word, isTight, isStrict: false })
}

// `--token value` has no sign between, so only a value that is hardly a word counts.
function optionAt(text: string, index: number, word: string) {
  // A bounded window, or it would be quadratic.
  const window = Math.max(0, index - MAX_OPTION_LENGTH)
  const dashes = window + text.slice(window, index).lastIndexOf('--')
  if (dashes < window) return undefined
  const pattern = OPTION()
  pattern.lastIndex = dashes
  const match = pattern.exec(text)
  if (match === null || dashes + match[0].length <= index) return undefined
  const name = { key: word, word, isTight: false, isStrict: true }
  return valueAt(text, dashes + match[0].length, name)
}

function valueAt(
  text: string,
  at: number,
  {
    key,
    word,
    isTight,
    isStrict,
  }: { key: string; word: string; isTight: boolean; isStrict: boolean },
) {
  const kind = kindOf(word)
  OPENING.lastIndex = at
  const opening = OPENING.exec(text)
  if (opening !== null) {
    const [whole, escape = '', quote = ''] = opening
    const start = at + whole.length
    const end = endOfQuoted(text, start, quote, escape !== '')
    const value = text.slice(start, end)
    const isSecret = isSecretValue({ key, value, isQuoted: !isStrict, isTight })
    return isSecret ? { kind, start, end } : undefined
  }
  UNQUOTED.lastIndex = at
  const value = UNQUOTED.exec(text)?.[0].replace(/\.$/, '') ?? ''
  const next = text[at + value.length]
  // A call or a type, not a value.
  if (next === '(' || next === '<') return undefined
  if (!isSecretValue({ key, value, isQuoted: false, isTight })) return undefined
  // Decided by its start, so that a hostile run is not read again for every key in it.
  UNQUOTED_REST.lastIndex = at + value.length
  const rest = UNQUOTED_REST.exec(text)?.[0] ?? ''
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

// A miss leaves a secret on disk, a false positive removes a word from a journal.

const PLACEHOLDER = lazily(
  () =>
    new RegExp(
      [
        String.raw`^(?:\$|<|\{|#\{|%\(|%[sdv]$|%\w+%$)`,
        String.raw`process\.env|import\.meta|os\.environ|getenv|(?:^|[^a-z])env\.|secrets?\.|vault:|keyring:`,
        String.raw`^(?:your|my|the|some|insert|replace|enter)[-_ .]`,
        String.raw`change[-_]?(?:me|it|this)|placeholder|example|dummy|redacted|foobar|\bhere\b`,
        String.raw`x{4,}|\*{3,}|\.{3,}|…|•|^[-_#?.]+$`,
        String.raw`^(?:undefined|nullable|optional|required|invalid|incorrect|missing|disabled|enabled|unchanged|expired|passw(?:or)?d|secret|token|bearer|pass)$`,
      ].join('|'),
      'i',
    ),
)

const MARKER = /^\[redacted:[a-z-]+\]$/

function isPlaceholder(value: string) {
  return MARKER.test(value) || PLACEHOLDER().test(value)
}

function looksRandom(value: string) {
  const rest = withoutTechnicalWords(value)
  if (/\d/.test(rest) && /[A-Za-z]/.test(rest)) return true
  if (value.length < 12) return false
  const capitals = value.match(/[A-Z]/g)?.length ?? 0
  // Even a camel-case name has fewer than one capital in three letters.
  return /[a-z]/.test(value) && capitals * 3 >= value.length
}

/** `isTight`: `NAME=value` with nothing between, as in a shell or a query. */
export function isSecretValue({
  key,
  value,
  isQuoted,
  isTight,
}: Readonly<Record<'key' | 'value', string> & Record<'isQuoted' | 'isTight', boolean>>): boolean {
  if (value.length < 8 || isPlaceholder(value) || isReference(value)) return false
  if (/\s/.test(value) || /[^\p{ASCII}]/u.test(value)) return false
  const isPassword = /pass|secret/i.test(key)
  if (/^\d+$/.test(value)) return isPassword
  if (/^[\d_.,:+%-]+[a-z]{0,3}$/i.test(value) || /^\d{4}-\d\d-\d\d/.test(value)) return false
  // A hand-made value only counts where a password is expected and it is written as a value.
  const isSetting = isTight && (!/[a-z]/.test(key) || /passw/i.test(key)) && !value.includes('.')
  const isChosen = isPassword && (isQuoted || isSetting)
  if (!/\d/.test(withoutTechnicalWords(value)))
    return (isChosen && !NAMES.test(value)) || isScrambled(value)
  if (isWordList(value)) return isChosen && !NAMES.test(value)
  if (!isQuoted && !isTight && isNumberedName(value)) return isPassword && !NAMES.test(value)
  return true
}

const NAMES = /passw|passphrase|secret|token|key|auth|credential/i

const FILE =
  /\.(?:ya?ml|json[5lc]?|[cm]?[jt]sx?|py|go|rs|rb|java|txt|env|pem|key|crt|md|toml|tfvars|sh|conf|ini|xml|html|css)$/i
const CODE =
  /^(?:this|self|req|request|res|ctx|context|config|cfg|opts|options|args|argv|settings|data|props|state|user|params|body)[.?[]/

function isReference(value: string) {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return true
  if (/^(?:~|\.{1,2})?\/[\w.@-]+(?:\/[\w.@-]+)*\/?$/.test(value))
    return !(value.length >= 32 && isScrambled(value.replaceAll('/', '')))
  return FILE.test(value) || CODE.test(value)
}

// `step-2-review`, `v1.2.3-beta`
function isWordList(value: string) {
  const parts = value.split(/[-_./:]/)
  return (
    parts.length > 1 &&
    parts.every((part) => /^(?:[A-Za-z]{2,}\d{0,2}|\d{1,4}|[a-z]|v\d+)$/.test(part))
  )
}

// `nextValue2`
function isNumberedName(value: string) {
  return /^[A-Za-z_$.]+\d{1,2}$/.test(value)
}

function isScrambled(value: string) {
  return value.length >= 16 && looksRandom(value)
}

function withoutTechnicalWords(value: string) {
  return value.replace(
    /u?int(?:8|16|32|64)|float(?:32|64)|base(?:16|32|36|58|64)|sha(?:1|256|384|512)|md5|utf(?:8|16)|k8s|oauth2|x509|[ehr]s256|i18n/gi,
    '',
  )
}

const BEGIN = /-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g
const BEGIN_MARK = '-----BEGIN '
const END_MARK = '-----END '
const END_LINE = /-----END [A-Z0-9 ]{1,48}-----/y
// What a viewer, a diff or a quotation puts before a line; also escaped line ends.
const BETWEEN =
  /(?:[\s>|:+→-]|\\[nrt]|\d{1,6}(?:→|\t|: )|(?:Proc-Type|DEK-Info|Version|Comment|Hash):[^\n\\]{0,200})*/y
const BODY = /[A-Za-z0-9+/=]{16,}|[A-Za-z0-9+/]{1,15}(?:={1,2}|(?=$|\.{3}|…))/y
const MAX_KEY = 32_768

/** Not a pattern, which would be quadratic on a text full of first lines. A mention of the first line alone is not a key. */
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

// As in the source of a program that searches for keys.
function isBlank(body: string) {
  return !/[A-Za-z0-9+/=]{16}/.test(body)
}
