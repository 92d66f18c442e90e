import { encodedStarts } from './encoded-runs.ts'
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
// For an unmistakable prefix, also after a dash: such tokens become parts of file names.
const PREFIX = String.raw`(?<!(?<!\\)[A-Za-z0-9])`

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
      /(secret[_ ]?(?:access[_ ]?)?key\\{0,3}["']?(?:\s\[[^\]\n]{0,40}\])?(?:\s{0,4}[:=]>?)?\s{0,4}\\{0,3}["']?)[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])/gi,
    isSpared: isSample,
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
    `${PREFIX}(?:[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/]{24,}={0,2})`,
  ),
  secret('google-api-key', ['AIza'], `${PREFIX}AIza[A-Za-z0-9_-]{35}${END}`),
  secret('google-oauth', ['GOCSPX-', 'ya29.'], `${START}(?:GOCSPX-|ya29\\.)[A-Za-z0-9_-]{20,}`),
  secret('anthropic-key', ['sk-ant-'], `${PREFIX}sk-ant-[A-Za-z0-9_-]{20,}`),
  secret(
    'openai-key',
    ['sk-'],
    `${START}sk-(?:(?:proj|svcacct|admin|None|or-v1)-[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{32,})`,
  ),
  secret('npm-token', ['npm_'], `${PREFIX}npm_[A-Za-z0-9]{36,}`),
  secret('pypi-token', ['pypi-AgE'], 'pypi-AgE[A-Za-z0-9_-]{40,}'),
  secret('huggingface-token', ['hf_'], `${PREFIX}hf_[A-Za-z0-9]{30,}`),
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
  secret('telegram-token', [':AA'], `(?:${START}|(?<=/bot))\\d{8,10}:AA[A-Za-z0-9_-]{33}${END}`),
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
    `${PREFIX}(?:(?:gsk_|xai-|pplx-|lin_api_|shpat_|sbp_|rubygems_)[A-Za-z0-9_]{24,}|dckr_pat_[A-Za-z0-9_-]{24,})`,
  ),
  secret('azure-secret', ['Q~'], `${START}[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}`),
  secret('azure-pat', ['JQQJ99'], `${START}[A-Za-z0-9]{40,60}JQQJ99[A-Za-z0-9]{20,32}${END}`),
  secret('nuget-key', ['oy2'], `${START}oy2[a-z0-9]{43}${END}`),
  secret('mailgun-key', ['key-'], `${START}key-[0-9a-f]{32}${END}`),
  {
    kind: 'password',
    hints: [':/'],
    // A password may hold anything up to the last @ of the host; one with a slash only counts in a database URL.
    pattern: () =>
      /([a-z][a-z0-9+.-]{1,20}:\/\/?[^\s:@/'"`<>]{0,128}:)(?!\d{1,5}[/?#),;\]}])(?:[^\s/'"`<>]{1,256}|(?<=(?:sql|mongodb|redis|rediss|amqp|amqps|postgres|mariadb|srv):\/\/[^\s:@/'"`<>]{0,128}:)[^\s@'"`<>]{1,256})(?=@)/gi,
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
  return { kind, hints, pattern: lazily(() => new RegExp(pattern, 'g')), isSpared: isSample }
}

const WORDS =
  'passw(?:or[dt]|d)|passphrase|pass|pwd|pw|secret|token|authorization|PAT|(?:api|app|access|account|private|auth|signing|encryption|master|storage|shared)[_ -]?key|auth'
// Inside a longer word they mean something else: `compass`, `pattern`, `oauth`.
const SHORT_WORDS = /^(?:pass|pwd|pw|pat|auth)$/i
// `token_count` is no token, `SECRET_KEY_BASE` is a secret.
const TAIL =
  '(?:[_-]?(?:key|value|base|token|secret|production|prod|live|dev|test|staging|[0-9]{1,2})){0,2}'

// One of these is in every word above: most texts need none of the long patterns compiled.
// One of these is in every word above, with what must follow the short ones.
const HINT =
  /pass|pwd|secret|token|authorization|key|pw(?![a-z])|pat(?![a-z])|auth(?:[_-]?\w{1,12}){0,2}\\{0,3}["'`\]]{0,2}[ \t]{0,8}[:=,>]/i

const KEY_AND_SIGN = lazily(
  () =>
    new RegExp(
      // A closing bracket only after a quote (`env["TOKEN"] =`), so that our own redaction marker is never a key.
      `(?:${WORDS})${TAIL}(?:\\\\{0,3}["'\`]\\]?)?([ \\t]{0,8})(?::=|={1,3}>?|:|(?<=["'\`][ \\t]{0,8}),(?=[ \\t]{0,8}\\\\{0,3}["'\`]))([ \\t]{0,8})`,
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
    if (!isOwnWord(text, index, word)) continue
    const found =
      assignedAt(text, index, word) ??
      optionAt(text, index, word) ??
      elementAt(text, index, word) ??
      proseAt(text, index, word)
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
  if (/arn:[\w:*/-]{0,120}$/.test(text.slice(Math.max(0, index - 128), index))) return undefined
  const key = keyBefore(text, index) + word
  // A list of names looks the same.
  if (whole.trimEnd().endsWith(','))
    return valueAt(text, index + whole.length, { key, word, isTight: false, isStrict: true })
  return valueAt(text, index + whole.length, { key, word, isTight, isStrict: false })
}

function isOwnWord(text: string, index: number, word: string) {
  if (!SHORT_WORDS.test(word)) return true
  if (/^pat$/i.test(word) && word !== 'PAT') return false
  const before = text[index - 1] ?? ''
  // `dbPass`, but not after an escaped line end: `\nPass`.
  if (/[A-Z]/.test(word[0]!) && /[a-z]/.test(word[1]!)) return true
  return !/[A-Za-z]/.test(before) || text[index - 2] === '\\'
}

const ELEMENT = lazily(
  () => new RegExp(`(?:${WORDS})${TAIL}[\\w.-]{0,20}(?:\\s[^<>\\n]{0,100})?>\\s{0,8}`, 'iy'),
)

// `<password>value</password>`
function elementAt(text: string, index: number, word: string) {
  if (!/<[\w:.-]{0,60}$/.test(text.slice(Math.max(0, index - 64), index))) return undefined
  const pattern = ELEMENT()
  pattern.lastIndex = index
  const match = pattern.exec(text)
  if (match === null) return undefined
  const start = index + match[0].length
  const end = text.slice(start, start + 512).search(/\s{0,8}</)
  if (end < 1) return undefined
  const value = text.slice(start, start + end)
  const isSecret = isSecretValue({ key: word, value, isQuoted: true, isTight: true })
  return isSecret ? { kind: kindOf(word), start, end: start + end } : undefined
}

const PROSE = lazily(
  () =>
    /["'`]?(?:[ \t]{1,3}(?:for|of|to)[ \t][\w.@/-]{1,40}(?:[ \t][\w.@/-]{1,40}){0,2}?)?[ \t]{1,3}((?:is|was|ist|lautet|war|es|est)(?:[ \t](?:now|still|set to|jetzt))?:?[ \t]{1,3})?(?=\S)/iy,
)

// `the password is value`, `with password "value"`
function proseAt(text: string, index: number, word: string) {
  const pattern = PROSE()
  pattern.lastIndex = index + word.length
  const match = pattern.exec(text)
  if (match === null) return undefined
  const at = index + word.length + match[0].length
  OPENING.lastIndex = at
  if (match[1] === undefined && !OPENING.test(text)) return undefined
  const found = valueAt(text, at, { key: word, word, isTight: false, isStrict: true })
  if (found === undefined) return undefined
  const value = text.slice(found.start, found.end)
  return /\d/.test(value) && /[A-Za-z]/.test(value) ? found : undefined
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
  if (/pass|pwd|pw/i.test(word)) return 'password'
  if (/key/i.test(word)) return 'key'
  return /token|auth|pat/i.test(word) ? 'token' : 'secret'
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

/** A token of a documentation, which has the shape of a real one. */
function isSample(value: string) {
  return /EXAMPLE|[-_](?:your|my|xxx|some)[-_]|-here$|x{8,}|X{8,}|\*{3,}|\.{3,}|(\w)\1{9,}/.test(
    value,
  )
}

export function isPlaceholder(value: string): boolean {
  return MARKER.test(value) || PLACEHOLDER().test(value)
}

export function looksRandom(value: string): boolean {
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
  if (/[^\p{ASCII}]/u.test(value)) return false
  // A sentence is none, except as the value of a setting.
  if (/\s/.test(value)) return isQuoted && isTight && !/[a-z]/.test(key) && isPhrase(value)
  if (/auth$/i.test(key) && !/o-?auth$/i.test(key)) return isBasicAuth(value)
  const isPassword = /pass|secret|pwd|(?:^|[^a-z])pw$/i.test(key)
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

function isPhrase(value: string) {
  return value.length < 128 && /\d/.test(value) && /[^\w\s.,:]/.test(value)
}

/** Base64 of `user:password`. */
function isBasicAuth(value: string) {
  return (
    /^[A-Za-z0-9+/]{12,}={0,2}$/.test(value) &&
    /^[ -9;-~]{1,128}:[ -~]{4,}$/.test(Buffer.from(value, 'base64').toString('latin1'))
  )
}

const NAMES = /passw|passphrase|secret|token|key|auth|credential/i

const FILE =
  /\.(?:ya?ml|json[5lc]?|[cm]?[jt]sx?|py|go|rs|rb|java|txt|env|pem|key|crt|md|toml|tfvars|sh|conf|ini|xml|html|css)$/i
const CODE =
  /^(?:this|self|req|request|res|ctx|context|config|cfg|opts|options|args|argv|settings|data|props|state|user|params|body)[.?[]/

export function isReference(value: string): boolean {
  if (/^[A-Za-z]:[\\/]/.test(value)) return true
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

const BARE_KEY = lazily(
  () =>
    // The first bytes of a private key in DER or of OpenSSH, as base64.
    /(?<!(?<!\\)[A-Za-z0-9+/])(?:MII[B-J][A-Za-z0-9+/][AQgw]IBA(?:AK[BC]|DAN)|MHcCAQEE|MIG[HkT]AgE[AB]|MIHcAgEB|MC4CAQAw|b3BlbnNzaC1rZXktdjE)|Private-Lines: ?\d{1,4}(?:\s|\\[nr]){1,4}/g,
)
const BARE_HINTS = ['IBA', 'CAQEE', 'AgE', 'CAQAw', 'b3BlbnNzaC1rZXk', 'Private-Lines']

/** Private keys whose first line is missing, and those of PuTTY. */
export function* findBareKeys(text: string): Generator<FoundSecret> {
  if (!BARE_HINTS.some((hint) => text.includes(hint))) return
  let from = 0
  for (const { 0: begin, index } of text.matchAll(BARE_KEY())) {
    if (index < from) continue
    const start = begin.startsWith('Private') ? index + begin.length : index
    const end = endOfBody(text, start)
    if (end - start < 32) continue
    from = end
    yield { kind: 'private-key', start, end }
  }
}

const KEY_END = /-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY/g
const MAX_TAIL = 8192

/** The lines before the last line of a key whose first line is missing. */
export function* findKeyTails(text: string): Generator<FoundSecret> {
  let from = 0
  for (const { index } of text.matchAll(KEY_END)) {
    const window = text.slice(Math.max(from, index - MAX_TAIL), index)
    const lines = window.split(/(?<=\n|\\n)/)
    let start = index
    for (const line of lines.toReversed()) {
      if (!/^[\s>|]{0,8}[A-Za-z0-9+/=]{1,76}(?:\s|\\n|\\r)*$/.test(line)) break
      start -= line.length
    }
    if (index - start >= 32) yield { kind: 'private-key', start, end: index }
    from = index
  }
}

const ENCODED_TEXT = /[A-Za-z0-9+/]{24,65536}={0,2}/y

export function* encodedTexts(text: string): Generator<FoundSecret & { readonly decoded: string }> {
  for (const start of encodedStarts(text)) {
    ENCODED_TEXT.lastIndex = start
    const encoded = ENCODED_TEXT.exec(text)?.[0] ?? ''
    const decoded = Buffer.from(encoded, 'base64').toString('latin1')
    if (!/^[\t\n\r -~]*$/.test(decoded.slice(0, 256))) continue
    yield { kind: 'encoded', start, end: start + encoded.length, decoded }
  }
}

const AWS_ID = /(?:AKIA|ASIA)[A-Z0-9]{16}|\[redacted:aws-key-id\]/g
const AWS_SECRET = /(?<![A-Za-z0-9/+=])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])/g
const AWS_REACH = 400

/** 40 characters alone could be anything; beside the id of a key they are its secret. */
export function* findAwsSecrets(text: string): Generator<FoundSecret> {
  const ids = [...text.matchAll(AWS_ID)].map(({ index }) => index)
  if (ids.length === 0) return
  let near = 0
  for (const { 0: secret, index } of text.matchAll(AWS_SECRET)) {
    while (near < ids.length - 1 && ids[near + 1]! <= index) near += 1
    const distance = Math.min(
      ...[ids[near]!, ids[near + 1] ?? Infinity].map((at) => Math.abs(at - index)),
    )
    const isMixed = /[a-z]/.test(secret) && /[A-Z]/.test(secret) && /\d/.test(secret)
    if (distance <= AWS_REACH && isMixed && !isSample(secret))
      yield { kind: 'aws-secret', start: index, end: index + 40 }
  }
}
