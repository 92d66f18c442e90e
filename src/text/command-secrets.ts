// Secrets that stand where a program expects one: options of commands, SQL, headers of cookies, lines of credential files.
import { lazily } from './lazily.ts'
import { type FoundSecret, isPlaceholder, isReference, looksRandom } from './secrets.ts'

interface Place {
  readonly kind: string
  /** One of them is in every text with such a secret, in lower case. */
  readonly hints: readonly string[]
  /** This one too. */
  readonly also?: string
  /** Ends right before the secret, or before the quote that opens it. Bounded, so that the search stays linear. */
  readonly before: () => RegExp
  /** What an unquoted secret may hold. */
  readonly value?: RegExp
  /** Without it, everything but a placeholder is a secret. */
  readonly isSecret?: (value: string) => boolean
}

const QUOTE = String.raw`(?:\\{0,3}["'])?`
// The rest of a command up to an option. A line may continue after a backslash.
const ARGS = String.raw`(?:[^\n|;&\\]|\\.|\\\n|&(?=\S)){0,250}?(?:[\s"']|\\[nt])`
const VALUE = /[^\s"'`|<>]{4,256}/y

function place(
  kind: string,
  hints: readonly string[],
  before: string,
  more: Omit<Partial<Place>, 'before'> = {},
): Place {
  return { kind, hints, before: lazily(() => new RegExp(before, 'gi')), ...more }
}

function option(hints: readonly string[], command: string, options: string, also = '-'): Place {
  const start = String.raw`(?<![\w.-])(?:${command})(?:\.exe)?(?=[\s"'])`
  // With case: `-P` of mysql is a port, and `-p` of unzip a pipe.
  const before = lazily(() => new RegExp(`${start}${ARGS}${options}`, 'g'))
  return { kind: 'password', hints, also, before }
}

const PAIR = String.raw`${QUOTE}[^\s"':]{0,128}:`

export const PLACES: readonly Place[] = [
  option(
    ['curl', 'wget', 'http'],
    'curl|wget|https?',
    String.raw`(?:-[a-z]{0,6}u|-a|--user|--proxy-user|--auth)(?:[ =]{0,3}|["'],\s?)${PAIR}`,
  ),
  option(['mysql', 'mariadb'], String.raw`mysql\w{0,12}|mariadb[\w-]{0,12}`, '-p(?=[^\\s])', '-p'),
  option(['sshpass'], 'sshpass', String.raw`-p\s{0,3}`, '-p'),
  option(['login'], String.raw`login`, String.raw`-p\s{1,3}`, '-p'),
  option(['mongo'], String.raw`mongo\w{0,8}`, String.raw`-p\s{1,3}`, '-p'),
  option(['redis-cli'], 'redis-cli', String.raw`-a\s{1,3}`),
  option(['ldap'], String.raw`ldap\w{3,8}`, String.raw`-w\s{1,3}`),
  option(['sqlcmd', 'bcp', 'osql', 'zip'], 'sqlcmd|bcp|osql|(?:un)?zip', String.raw`-P\s{1,3}`),
  option(['7z', 'rar'], '7za?|(?:un)?rar', '-h?p(?=[^\\s])'),
  option(
    ['smbclient', 'rpcclient', 'smbmap'],
    'smbclient|rpcclient|smbmap',
    String.raw`-U\s{0,3}${QUOTE}[^\s"'%]{1,128}%`,
  ),
  option(['lftp'], 'lftp', String.raw`-u\s{1,3}${QUOTE}[^\s"',]{1,128},`),
  option(
    ['freerdp', 'rdesktop'],
    String.raw`[wx]freerdp\d?|rdesktop`,
    String.raw`(?:/p:|-p\s{1,3})`,
  ),
  option(
    ['htpasswd'],
    'htpasswd',
    String.raw`-[a-z]{0,5}b[a-z]{0,5}\s{1,3}[^\s-]\S{0,128}\s{1,3}(?:[^\s-]\S{0,64}\s{1,3})?(?=\S{4,128}\s{0,3}(?:$|[\n;&|]|\\n))`,
  ),
  place(
    'password',
    ['-pass', '-storepass', '-keypass'],
    String.raw`(?<=[\s"'])-{1,2}(?:store|key)?pass(?:in|out)?[\s=]{1,3}(?:${QUOTE}pass:)?`,
    {
      isSecret: isPasswordLike,
    },
  ),
  place('password', ['user:'], String.raw`\bnet\s{1,3}use\s[^\n]{0,200}?\s/user:\S{1,128}\s{1,3}`),
  // Into a program that reads a password from its input.
  place(
    'password',
    ['sudo -', '-stdin', 'chpasswd'],
    String.raw`(?:echo(?:\s-[en]{1,2})?|printf(?:\s${QUOTE}%s(?:\\\\?n)?${QUOTE})?)\s{1,3}(?=[^\n|]{4,200}\|\s*(?:\S{1,60}\s){0,4}(?:sudo\s(?:-\w+\s){0,3}-S|\S{0,200}--?\S{0,20}stdin|chpasswd|(?:docker|podman|helm)\s[^\n]{0,200}stdin|[^\n|]{0,200}--password-stdin))(?:${QUOTE}[\w.-]{1,64}:(?=[^\n|]*\|\s*(?:sudo\s+)?chpasswd))?`,
  ),
  place(
    'password',
    [
      'identified by',
      'identified with',
      'identified as',
      "password '",
      'password "',
      'password \\"',
      'set password',
    ],
    String.raw`(?:identified\s+(?:with\s+\S{1,40}\s+)?(?:by|as)\s+(?:password\s+)?|\b(?:user|role)\s[^\n;]{1,200}?\spassword\s+|set\s+password\s[^\n;]{0,100}?=\s*(?:password\s*\(\s*)?)(?=\\{0,3}["'])`,
  ),
  place('password', ['login '], String.raw`\blogin\s+\S{1,128}(?:\s|\\[nt]){1,8}passw(?:or)?d\s+`),
  place(
    'password',
    ['jdbc:oracle', 'sqlplus'],
    String.raw`(?:jdbc:oracle:\w{2,8}:|sqlplus\s(?:-\w+\s){0,3}${QUOTE})[\w.$#-]{1,64}/(?=[^\s@]{1,128}@)`,
    {
      value: /[^\s@"'`]{4,128}/y,
    },
  ),
  // A line of .pgpass.
  place(
    'password',
    [':*:', ':5432:', ':5433:', ':6432:'],
    String.raw`(?<=^|\n|\\n|")(?:[\w.-]{1,128}|\*):(?:\d{4,5}|\*):[\w.*-]{1,64}:[\w.-]{1,64}:(?=\S{8,128}(?:\s|\\n|$))`,
    {
      isSecret: isPasswordLike,
    },
  ),
  place('key', ['nuget'], String.raw`\bnuget\s+push\s[^\n]{0,300}?\s-k\s{1,3}`),
  place(
    'key',
    ['define'],
    String.raw`\bdefine\s{0,2}\(\s{0,4}["'][A-Z_]{0,40}(?:KEY|SALT|SECRET|PASSWORD|TOKEN)["']\s{0,12},\s{0,4}`,
    {
      isSecret: (value) => value.length >= 16 && looksRandom(value),
    },
  ),
  place('sas', ['sig='], String.raw`(?:[?&;]|u0026|["'])sig=`, {
    value: /(?:[\w+/-]|%[0-9A-Fa-f]{2}){30,128}={0,2}/y,
  }),
]

/** A chosen password: letters with a digit or a sign, and no ordinary word. */
export function isPasswordLike(value: string): boolean {
  if (value.length < 8 || isReference(value)) return false
  const classes = [/[a-z]/, /[A-Z]/, /\d/, /[^\w\s]/].filter((pattern) =>
    pattern.test(value),
  ).length
  return classes >= 3 || (classes >= 2 && looksRandom(value))
}

export function* findPlacedSecrets(text: string): Generator<FoundSecret> {
  const lowerCase = text.toLowerCase()
  const found: FoundSecret[] = []
  for (const { kind, hints, also = '', before, value = VALUE, isSecret } of PLACES) {
    if (!hints.some((hint) => lowerCase.includes(hint)) || !lowerCase.includes(also)) continue
    for (const { 0: whole, index } of text.matchAll(before())) {
      const span = valueAt(text, index + whole.length, whole, value)
      if (span === undefined) continue
      const secret = text.slice(span.start, span.end)
      if (isPlaceholder(secret) || secret.startsWith('-') || isSecret?.(secret) === false) continue
      found.push({ kind, ...span })
    }
  }
  if (lowerCase.includes('cookie')) found.push(...findCookies(text))
  let from = 0
  for (const each of found.toSorted((a, b) => a.start - b.start)) {
    if (each.start < from) continue
    from = each.end
    yield each
  }
}

function valueAt(text: string, at: number, before: string, unquoted: RegExp) {
  const [, escape = '', quote = ''] = /^(\\{0,3})(["'`])/.exec(text.slice(at, at + 4)) ?? []
  // The quote may also have opened before the user's name.
  const opened = quote === '' ? /(\\{0,3}["'])[^\s"']*$/.exec(before.slice(-140))?.[1] : undefined
  const start = at + escape.length + quote.length
  const close = opened ?? `${escape}${quote}`
  if (close !== '') {
    const line = text.slice(start, start + 300)
    const end = line.indexOf(close)
    if (end > 0 && !line.slice(0, end).includes('\n')) return { start, end: start + end }
  }
  unquoted.lastIndex = start
  const value = unquoted.exec(text)?.[0].replace(/[.,;)\\]+$/, '') ?? ''
  return value.length < 4 ? undefined : { start, end: start + value.length }
}

const COOKIE_HEADER = lazily(
  () =>
    /(?<![\w-])(?:set-)?cookies?\\{0,3}["']?\s{0,4}[:=]\s{0,4}\\{0,3}["']?(?=[\w.-]{1,64}=)|(?<=\s)--cookie\s{1,3}\\{0,3}["']?(?=[\w.-]{1,64}=)/gi,
)
const COOKIE = /[\s;]{0,4}([\w.-]{1,64})=([^\s;"'\\,]{1,4096})/y
const SESSION_COOKIE = /sess|sid|auth|token|csrf|xsrf|jwt|remember|login|secret|key/i
const MAX_COOKIES = 40

function* findCookies(text: string): Generator<FoundSecret> {
  for (const { 0: whole, index } of text.matchAll(COOKIE_HEADER())) {
    COOKIE.lastIndex = index + whole.length
    for (let count = 0; count < MAX_COOKIES; count += 1) {
      const match = COOKIE.exec(text)
      if (match === null) break
      const [, name = '', value = ''] = match
      const end = COOKIE.lastIndex
      const least = SESSION_COOKIE.test(name) ? 8 : 20
      if (
        value.length >= least &&
        looksRandom(value) &&
        !isPlaceholder(value) &&
        !/^GA\d/.test(value)
      )
        yield { kind: 'cookie', start: end - value.length, end }
      // Attributes without a value.
      const attribute = /(?:;\s{0,3}(?:HttpOnly|Secure|Partitioned))+/iy
      attribute.lastIndex = end
      COOKIE.lastIndex = attribute.exec(text) === null ? end : attribute.lastIndex
    }
  }
}
