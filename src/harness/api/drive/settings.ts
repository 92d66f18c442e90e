import type { ApiSettings, ModelSettings, Provider } from '../../contract/drive.ts'

export const BASE_URLS: Readonly<Record<Provider, string>> = {
  anthropic: 'https://api.anthropic.com',
  openai: 'https://api.openai.com/v1',
}

/** fetch itself waits no longer for the next bytes. */
export const LONGEST_SILENCE_SECONDS = 300

const KEYS: Readonly<Record<Provider, string>> = {
  anthropic: 'ANTHROPIC_API_KEY',
  openai: 'OPENAI_API_KEY',
}

/** The usual variables are for the provider's own address only. */
export function keyVariable({ provider, baseUrl, keyEnv }: ApiSettings): string | undefined {
  return (
    keyEnv ??
    (new URL(baseUrl).host === new URL(BASE_URLS[provider]).host ? KEYS[provider] : undefined)
  )
}

export function isLoopback(baseUrl: string): boolean {
  const { hostname } = new URL(baseUrl)
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127\.\d+\.\d+\.\d+$/.test(hostname)
  )
}

export function settingsFor(
  harness: string,
  { usual, providers }: ModelSettings,
): ApiSettings | undefined {
  const colon = harness.indexOf(':')
  const name = harness.slice(colon + 1)
  if (colon === -1) return usual
  return Object.hasOwn(providers, name) ? providers[name] : undefined
}
