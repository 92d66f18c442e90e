// A cheap check for gigabytes of text. It may return a false yes, never a false no; a test compares it with the patterns.
import { lazily } from './lazily.ts'

// White space, which JSON escapes.
const SPACE = String.raw`(?:\s|\\[nrtbf]|\\u00[01].){0,8}`
// Suffixes of a key that do not change its meaning.
const TAIL =
  '(?:[_-]?(?:key|value|base|token|secret|production|prod|live|dev|test|staging|[0-9]{1,2})){0,2}'
const VALUE = String.raw`${TAIL}[\\"'\x60\]]{0,10}${SPACE}[:=][=>]{0,3}${SPACE}(?:\[|[^\s\x80-\uffff]{8})`

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
const TRIGGERS: readonly Trigger[] = [
  trigger('pass', `pass(?:w(?:or)?d|phrase)(?:${VALUE}|${OPTION})`),
  trigger('cret', `(?<=se)cret(?:${VALUE}|${OPTION}|(?<=age-secret)-key-)`),
  trigger('ken', `(?<=to)ken(?:${VALUE}|${OPTION})`),
  trigger(
    'key',
    `key(?:(?<=(?:api|access|account|private|auth|signing|encryption|master)[_-]?key)(?:${VALUE}|${OPTION})|(?<=private key)|=)`,
  ),
  trigger('zation', '(?<=uthori)zation'),
  trigger('bearer', String.raw`bearer(?:\s|\\[nrtbf]|\\u00)`),
  // The password in a URL.
  trigger('://', '://[^]*@'),
  trigger('k.com/', '(?<=hooks.slac)k'),
  trigger('/api/webhooks/', '/'),
  trigger('ya29.', 'y'),
]

const CAPITALS = lazily(
  () =>
    /[MNO][\w-]{22,27}\.[\w-]{6}\.|A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}|AIza|GOCSPX-|SG\.[\w-]{16}|SK[0-9a-f]{32}|J(?<=eyJ)|:AA|hv(?=[sbr]\.)/,
)

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
        /(?:gl[a-z]{2,5}|xox[a-z]|xapp|(?:^|[^\w-]|\\[\w-]|\\u[\da-f]{4})sk|pypi|xai|pplx)-[\w.-]{10}/,
    ),
  },
]

/** No is certain for the built-in patterns. */
export function mayHoldSecret(text: string): boolean {
  const lowerCase = text.toLowerCase()
  return (
    TRIGGERS.some((each) => hasTrigger(lowerCase, each)) ||
    SIGNS.some((each) => hasSignedSecret(text, each)) ||
    CAPITALS().test(text)
  )
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
