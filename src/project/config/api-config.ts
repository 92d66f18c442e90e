import { type ApiSettings, BASE_URLS, type Provider } from '../../harness/api/drive/settings.ts'
import { LONGEST_SILENCE_SECONDS } from '../../harness/api/drive/silence.ts'
import type { Refuse } from './budget-config.ts'
import { defined } from '../../text/defined.ts'

/** What the section `api` of the configuration may say: one model, and others by name. */
export interface ApiConfig {
  readonly usual?: ApiSettings
  readonly providers: Readonly<Record<string, ApiSettings>>
}

type Section = Readonly<Record<string, unknown>>

const KEYS = [
  'provider',
  'base_url',
  'model',
  'key_env',
  'window',
  'max_output',
  'silence_seconds',
  'headers',
  'initial_files',
  'effort',
  'thinking',
] as const

export function apiConfigFrom(section: Section, refuse: Refuse): ApiConfig {
  const { providers, ...usual } = section
  const named = sectionOf(providers ?? {}, 'api.providers', refuse)
  return {
    ...(Object.keys(usual).length === 0 ? {} : { usual: settingsFrom(usual, 'api', refuse) }),
    providers: Object.fromEntries(
      Object.entries(named).map(([name, value]) => {
        const at = `api.providers.${name}`
        return [name, settingsFrom(sectionOf(value, at, refuse), at, refuse)]
      }),
    ),
  }
}

function settingsFrom(section: Section, at: string, refuse: Refuse): ApiSettings {
  const unknown = Object.keys(section).find((key) => !KEYS.some((known) => known === key))
  if (unknown !== undefined)
    throw refuse(`there is no setting "${at}.${unknown}"; there are ${KEYS.join(', ')}`)
  const read = new Reader(section, at, refuse)
  const provider = read.provider()
  const settings = {
    provider,
    baseUrl: read.address() ?? BASE_URLS[provider],
    headers: read.headers(),
    initialFiles: read.texts('initial_files'),
    ...defined({
      model: read.text('model'),
      keyEnv: read.variable(),
      window: read.tokens('window'),
      maxOutput: read.tokens('max_output'),
      silenceSeconds: read.silence(),
      effort: read.text('effort'),
      thinking:
        section['thinking'] === 'adaptive' ? ('adaptive' as const) : read.tokens('thinking'),
    }),
  }
  const { window, maxOutput, thinking } = settings
  if (typeof thinking === 'number' && maxOutput !== undefined && thinking >= maxOutput)
    throw refuse(`"${at}.thinking" must be below "${at}.max_output", which holds it`)
  if (window !== undefined && maxOutput !== undefined && maxOutput >= window)
    throw refuse(`"${at}.max_output" must be below "${at}.window"`)
  return settings
}

class Reader {
  constructor(
    readonly section: Section,
    readonly at: string,
    readonly refuse: Refuse,
  ) {}

  provider(): Provider {
    const value = this.section['provider']
    if (value === 'anthropic' || value === 'openai') return value
    throw this.#wrong('provider', 'is anthropic or openai')
  }

  text(key: string): string | undefined {
    const value = this.section[key]
    if (value === undefined) return undefined
    if (typeof value !== 'string' || value.trim() === '') throw this.#wrong(key, 'must be a text')
    return value.trim()
  }

  texts(key: string): readonly string[] {
    const value = this.section[key] ?? []
    if (
      Array.isArray(value) &&
      value.every((item) => typeof item === 'string' && item.trim() !== '')
    )
      return value as string[]
    throw this.#wrong(key, 'must be a list of texts')
  }

  tokens(key: string): number | undefined {
    const value = this.section[key]
    if (value === undefined || (Number.isInteger(value) && (value as number) > 0))
      return value as number | undefined
    throw this.#wrong(key, 'must be a whole number of tokens')
  }

  silence(): number | undefined {
    const value = this.section['silence_seconds']
    if (value === undefined) return undefined
    if (typeof value === 'number' && value > 0 && value <= LONGEST_SILENCE_SECONDS) return value
    throw this.#wrong(
      'silence_seconds',
      `must be a number of seconds, up to ${LONGEST_SILENCE_SECONDS}`,
    )
  }

  address(): string | undefined {
    const text = this.text('base_url')
    if (text === undefined) return undefined
    if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
      throw this.#wrong('base_url', 'must be an address with http or https')
    const address = new URL(text)
    // Addresses are shown and stored; what is in them is no secret.
    if (address.username !== '' || address.password !== '')
      throw this.#wrong('base_url', 'must not hold a name or a password')
    return text
  }

  variable(): string | undefined {
    const text = this.text('key_env')
    if (text === undefined || /^[A-Za-z_]\w*$/.test(text)) return text
    throw this.#wrong(
      'key_env',
      'is the name of a variable of the environment that holds the key, and not the key',
    )
  }

  headers(): Readonly<Record<string, string>> {
    const fields = Object.entries(
      sectionOf(this.section['headers'] ?? {}, `${this.at}.headers`, this.refuse),
    )
    for (const [name, value] of fields) {
      if (typeof value !== 'string' || !/^[\w-]+$/.test(name) || !/^[ -~]*$/.test(value))
        throw this.#wrong(`headers.${name}`, 'must be a header and its text')
      if (/^(?:authorization|x-api-key|api-key|cookie)$/i.test(name))
        throw this.#wrong(
          `headers.${name}`,
          'would put a key into a file; name its variable as key_env',
        )
    }
    return Object.fromEntries(fields) as Readonly<Record<string, string>>
  }

  #wrong(key: string, reason: string): Error {
    return this.refuse(`"${this.at}.${key}" ${reason}`)
  }
}

function sectionOf(value: unknown, at: string, refuse: Refuse): Section {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw refuse(`"${at}" must hold settings`)
  return value as Section
}
