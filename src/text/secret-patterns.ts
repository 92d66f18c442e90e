import { lazily } from './lazily.ts'
import { isPlaceholder, looksRandom } from './secret-values.ts'

export interface SecretPattern {
  readonly kind: string
  /** Without one of these in the text the pattern is not tried. */
  readonly hints: readonly string[]
  /** The first group is kept; the rest of the match is the secret. */
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
