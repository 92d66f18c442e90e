// A miss is on disk, a false hit takes a word out of a journal.

import { lazily } from './lazily.ts'

const PLACEHOLDER = lazily(
  () =>
    new RegExp(
      [
        // Taken from elsewhere, or to be filled in.
        String.raw`^(?:\$|<|\{|#\{|%\(|%[sdv]$|%\w+%$)`,
        String.raw`process\.env|import\.meta|os\.environ|getenv|(?:^|[^a-z])env\.|secrets?\.|vault:|keyring:`,
        String.raw`^(?:your|my|the|some|insert|replace|enter)[-_ .]`,
        String.raw`change[-_]?(?:me|it|this)|placeholder|example|dummy|redacted|foobar|\bhere\b`,
        // Masked.
        String.raw`x{4,}|\*{3,}|\.{3,}|…|•|^[-_#?.]+$`,
        // Words that stand where a value would.
        String.raw`^(?:undefined|nullable|optional|required|invalid|incorrect|missing|disabled|enabled|unchanged|expired|passw(?:or)?d|secret|token|bearer|pass)$`,
      ].join('|'),
      'i',
    ),
)

const MARKER = /^\[redacted:[a-z-]+\]$/

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

export interface Assignment {
  readonly key: string
  readonly value: string
  readonly isQuoted: boolean
  /** `NAME=value` with nothing between, as in a shell or a query. */
  readonly isTight: boolean
}

export function givesSecret({ key, value, isQuoted, isTight }: Assignment): boolean {
  if (value.length < 8 || isPlaceholder(value) || isElsewhere(value)) return false
  // Prose, in quotes or in a script without ASCII letters.
  if (/\s/.test(value) || /[^\p{ASCII}]/u.test(value)) return false
  const isPassword = /pass|secret/i.test(key)
  if (/^\d+$/.test(value)) return isPassword
  if (/^[\d_.,:+%-]+[a-z]{0,3}$/i.test(value) || /^\d{4}-\d\d-\d\d/.test(value)) return false
  // A hand-made value only counts where a password is expected, and written as a value.
  const isSetting = isTight && (!/[a-z]/.test(key) || /passw/i.test(key)) && !value.includes('.')
  const isChosen = isPassword && (isQuoted || isSetting)
  if (!/\d/.test(withoutTechnicalWords(value)))
    return (isChosen && !NAMES.test(value)) || isScrambled(value)
  if (isWords(value)) return isChosen && !NAMES.test(value)
  if (!isQuoted && !isTight && isNumberedName(value)) return isPassword && !NAMES.test(value)
  return true
}

const NAMES = /passw|passphrase|secret|token|key|auth|credential/i

const FILE =
  /\.(?:ya?ml|json[5lc]?|[cm]?[jt]sx?|py|go|rs|rb|java|txt|env|pem|key|crt|md|toml|tfvars|sh|conf|ini|xml|html|css)$/i
const CODE =
  /^(?:this|self|req|request|res|ctx|context|config|cfg|opts|options|args|argv|settings|data|props|state|user|params|body)[.?[]/

// The value says where the secret is.
function isElsewhere(value: string) {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return true
  if (/^(?:~|\.{1,2})?\/[\w.@-]+(?:\/[\w.@-]+)*\/?$/.test(value))
    return !(value.length >= 32 && isScrambled(value.replaceAll('/', '')))
  return FILE.test(value) || CODE.test(value)
}

// `step-2-review`, `v1.2.3-beta`
function isWords(value: string) {
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
