// A cheap check for gigabytes of text. It may return a false yes, never a false no; a test compares it with the patterns.
import { encodedStarts } from './encoded-runs.ts'
import { lazily } from './lazily.ts'

// White space, which JSON escapes.
const SPACE = String.raw`(?:\s|\\[nrtbf]|\\u00[01].){0,8}`
// Suffixes of a key that do not change its meaning.
const TAIL =
  '(?:[_-]?(?:key|value|base|token|secret|production|prod|live|dev|test|staging|[0-9]{1,2})){0,2}'
const SIGN = String.raw`(?:[\\"'\x60\]]{0,10}${SPACE}[:=][=>]{0,3}|[\\"'\x60]{1,10}${SPACE},)`
const VALUE = String.raw`${TAIL}${SIGN}${SPACE}(?:\[|[^\s\x80-\uffff]{8})`
// A quoted password may be a phrase.
const PHRASE = String.raw`${TAIL}${SIGN}${SPACE}[\\]{0,3}["'\x60][^]{8}`
const GAP = String.raw`(?:[ \t]|\\t){1,6}`
const PROSE = String.raw`[\\"'\x60]{0,4}(?:${GAP}(?:for|of|to)${GAP}[\w.@/-]{1,40}(?:${GAP}[\w.@/-]{1,40}){0,2})?${GAP}(?:(?:is|was|ist|lautet|war|es|est)(?:${GAP}(?:now|still|set${GAP}to|jetzt))?:?${GAP}\S{8}|[\\]{0,3}["'\x60]\S{6})`
const ELEMENT = String.raw`${TAIL}[\w.-]{0,20}(?:[\s\\][^<>]{0,110})?>`
const NAMED = `${VALUE}|${PROSE}|${ELEMENT}`

interface Trigger {
  /** Searched first, in lower case. A rare first letter makes it faster, so some are the middle of a word. */
  readonly fragment: string
  readonly pattern: () => RegExp
}

function trigger(fragment: string, pattern: string) {
  return { fragment, pattern: lazily(() => new RegExp(pattern, 'y')) }
}

// Its value follows it, or is the next element of a list.
const OPTION = String.raw`(?:(?<=--[a-z-]{0,40})(?:[ \t]|\\t)|${TAIL}(?<="-[\w-]{0,60})",")`

// Commands with the option that has the secret, as `command-secrets.ts` finds them.
const COMMANDS = [
  ['curl', ':'],
  ['wget', ':'],
  ['http', '(?:-u|-a|user|auth)'],
  ['login', '-p'],
  ['bcp', '-p'],
  ['osql', '-p'],
  ['zip', '-p'],
  ['7z', '-h?p'],
  ['rar', '-h?p'],
  ['nuget', '-k'],
] as const
// Rare enough to count wherever they are: `mysql`, `ldapsearch`, `sudo -S` and so on, from a rare letter on.
const EVERYWHERE = [
  'ysql',
  'mariadb',
  'mongo',
  'ldap',
  'qlcmd',
  'qlplus',
  'redis-cli',
  'bclient',
  'pcclient',
  'bmap',
  'lftp',
  'freerdp',
  'rdesktop',
  'udo -',
  '-stdin',
  'oracle:',
  'sig=',
  'vate-lines',
  '/user:',
  ':*:',
  ':5432:',
  ':5433:',
  ':6432:',
]
const TRIGGERS: readonly Trigger[] = [
  trigger(
    'pass',
    String.raw`pass(?:w(?:or[dt]|d)|phrase)?(?:${NAMED}|${PHRASE}|${OPTION}|(?<=-(?:store|key)?pass)(?:in|out)?[\s=\\]|(?<=(?:ssh|ht|ch)pass))`,
  ),
  trigger(
    'cret',
    `(?<=se)cret(?:${NAMED}|${PHRASE}|${OPTION}|(?<=age-secret)-key-|[_ ]?(?:access[_ ]?)?key)`,
  ),
  trigger('ken', `(?<=to)ken(?:${NAMED}|${OPTION})`),
  trigger('pwd', `pwd(?:${NAMED}|${PHRASE}|${OPTION})`),
  trigger('pw', `pw(?:${NAMED}|${PHRASE}|${OPTION})`),
  trigger('auth', `auth(?:${NAMED}|${OPTION})`),
  trigger(
    'key',
    `key(?:(?<=(?:api|app|access|account|private|auth|signing|encryption|master|storage|shared)[_ -]?key)(?:${NAMED}|${OPTION})|(?<=private key)|=)`,
  ),
  trigger('zation', '(?<=uthori)zation'),
  ...COMMANDS.map(([name, option]) =>
    trigger(name, String.raw`${name}[sa]?(?:\.exe)?[\s"'\\][^]{0,700}?${option}`),
  ),
  trigger('identified', String.raw`identified[\s\\]`),
  trigger('key-', 'key-[0-9a-f]{32}'),
  trigger('oy2', 'oy2[a-z0-9]{43}'),
  trigger('login', String.raw`login(?:\s|\\[nt])+\S{1,128}?(?:\s|\\[nt]){1,16}passw`),
  trigger('password', String.raw`password(?:\s|\\[nt]|\(){1,8}[\\]{0,3}["']`),
  trigger('define', String.raw`define[\s\\t]{0,4}\([^]{0,70}?(?:key|salt|secret|password|token)`),
  trigger('cookie', String.raw`cookies?(?:[\\"']{0,6}${SPACE}[:=]|[\s\\])`),
  trigger('bearer', String.raw`bearer(?:\s|\\[nrtbf]|\\u00)`),
  trigger('k.com/', '(?<=hooks.slac)k'),
  trigger('/api/webhooks/', '/'),
  trigger('ya29.', 'y'),
]

const CAPITALS = lazily(
  () =>
    /[MNO][\w-]{22,27}\.[\w-]{6}\.|A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}|AIza|GOCSPX-|SG\.[\w-]{16}|SK[0-9a-f]{32}|J(?<=eyJ)|:AA|hv(?=[sbr]\.)/,
)

// Parts of tokens and of private keys that no ordinary text holds.
const PARTS = lazily(() => /Q~|JQQJ99|IBAAK|IBADAN|HcCAQEE|AgE[AB]|C4CAQAw|b3BlbnNzaC1rZXk/)
const PAT = lazily(() => new RegExp(`PAT(?:${NAMED}|${OPTION})`))

const SIGNS: readonly {
  readonly sign: string
  readonly before: ReadonlySet<string>
  readonly pattern: () => RegExp
}[] = [
  {
    sign: '_',
    before: new Set('tpoursecmf1ki'),
    pattern: lazily(
      () =>
        /(?:_pat|gh[pours]|_live|_test|whsec|npm|hf|_v1|gsk|lin_api|shpat|sbp|rubygems)_[\w.+/-]{16}/,
    ),
  },
  {
    sign: '-',
    before: new Set([...'kxipt', ...'abdeoprs']),
    pattern: lazily(
      () =>
        /(?:gl[a-z]{2,5}|xox[a-z]|xapp|(?:^|[^A-Za-z0-9]|\\[\w-]|\\u[\da-f]{4})sk|pypi|xai|pplx)-[\w.-]{10}/,
    ),
  },
]

/** No is certain for the built-in patterns. */
export function mayHoldSecret(text: string): boolean {
  const lowerCase = text.toLowerCase()
  return (
    hasUrlWithUser(lowerCase) ||
    EVERYWHERE.some((fragment) => lowerCase.includes(fragment)) ||
    TRIGGERS.some((each) => hasTrigger(lowerCase, each)) ||
    SIGNS.some((each) => hasSignedSecret(text, each)) ||
    CAPITALS().test(text) ||
    PARTS().test(text) ||
    PAT().test(text) ||
    encodedStarts(text).next().done === false
  )
}

function hasUrlWithUser(text: string) {
  const at = text.indexOf(':/')
  return at !== -1 && text.includes('@', at)
}

function hasTrigger(text: string, { fragment, pattern }: Trigger) {
  for (let at = text.indexOf(fragment); at !== -1; at = text.indexOf(fragment, at + 1)) {
    const expected = pattern()
    expected.lastIndex = at
    if (expected.test(text)) return true
  }
  return false
}

function hasSignedSecret(text: string, { sign, before, pattern }: (typeof SIGNS)[number]) {
  for (let at = text.indexOf(sign, 1); at !== -1; at = text.indexOf(sign, at + 1)) {
    if (before.has(text[at - 1]!) && pattern().test(text.slice(Math.max(0, at - 12), at + 20)))
      return true
  }
  return false
}
