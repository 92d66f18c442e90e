export type Provider = 'anthropic' | 'openai'

/** How a model is reached. The key itself is never among it. */
export interface ApiSettings {
  readonly provider: Provider
  readonly baseUrl: string
  readonly model?: string
  /** The variable of the environment that holds the key. */
  readonly keyEnv?: string
  /** Tokens that the model's context holds, where that is not known from its name. */
  readonly window?: number
  /** The longest answer, in tokens. */
  readonly maxOutput?: number
  /** How long a server may say nothing before the turn fails. */
  readonly silenceSeconds?: number
  /** Sent with each request, such as `anthropic-beta`. */
  readonly headers: Readonly<Record<string, string>>
  /** Files of the project that each conversation begins with. */
  readonly initialFiles: readonly string[]
  readonly effort?: string
  /** Tokens the model may think for, or as many as it finds right. */
  readonly thinking?: number | 'adaptive'
}

export const BASE_URLS: Readonly<Record<Provider, string>> = {
  anthropic: 'https://api.anthropic.com',
  openai: 'https://api.openai.com/v1',
}

const KEYS: Readonly<Record<Provider, string>> = {
  anthropic: 'ANTHROPIC_API_KEY',
  openai: 'OPENAI_API_KEY',
}

/** The variable that the key is in. The usual ones are for the provider's own address alone: others get what is named for them. */
export function keyVariable({ provider, baseUrl, keyEnv }: ApiSettings): string | undefined {
  return (
    keyEnv ??
    (new URL(baseUrl).host === new URL(BASE_URLS[provider]).host ? KEYS[provider] : undefined)
  )
}

/** A server on this machine, which needs no key and to which nothing travels in the open. */
export function isLoopback(baseUrl: string): boolean {
  const { hostname } = new URL(baseUrl)
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127\.\d+\.\d+\.\d+$/.test(hostname)
  )
}
