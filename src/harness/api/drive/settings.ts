import type { ApiSettings, ModelSettings, Provider } from '../../contract/drive.ts'
import { plainModelName, estimateWindow } from '../../../context/budget/prices.ts'

export const BASE_URLS: Readonly<Record<Provider, string>> = {
  anthropic: 'https://api.anthropic.com',
  openai: 'https://api.openai.com/v1',
}

/** fetch itself times out after this long without a byte. */
export const LONGEST_SILENCE_SECONDS = 300

const KEY_VARIABLES: Readonly<Record<Provider, string>> = {
  anthropic: 'ANTHROPIC_API_KEY',
  openai: 'OPENAI_API_KEY',
}

/** The default variables are only for the provider's own host. */
export function keyVariable({ provider, baseUrl, keyEnv }: ApiSettings): string | undefined {
  return (
    keyEnv ??
    (new URL(baseUrl).host === new URL(BASE_URLS[provider]).host
      ? KEY_VARIABLES[provider]
      : undefined)
  )
}

export function isLoopbackUrl(baseUrl: string): boolean {
  const { hostname } = new URL(baseUrl)
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127\.\d+\.\d+\.\d+$/.test(hostname)
  )
}

export function findApiSettings(
  harness: string,
  { usual, providers }: ModelSettings,
): ApiSettings | undefined {
  const colon = harness.indexOf(':')
  const name = harness.slice(colon + 1)
  if (colon === -1) return usual
  return Object.hasOwn(providers, name) ? providers[name] : undefined
}

export interface TokenLimits {
  readonly window?: number
  readonly maxOutput: number
  readonly point?: number
}

const DEFAULT_MAX_OUTPUT = 16_000

const WINDOWS: readonly (readonly [prefix: string, window: number])[] = [
  ['gpt-4.1', 1_047_576],
  ['gpt-4o', 128_000],
  ['gpt-4-turbo', 128_000],
  ['gpt-5', 400_000],
  ['o1', 200_000],
  ['o3', 200_000],
  ['o4-mini', 200_000],
]

export function tokenLimits(
  settings: Pick<ApiSettings, 'window' | 'maxOutput'>,
  model: string,
): TokenLimits {
  const window = settings.window ?? estimateWindow(model, undefined)?.value ?? windowByName(model)
  if (window === undefined) return { maxOutput: settings.maxOutput ?? DEFAULT_MAX_OUTPUT }
  const maxOutput = settings.maxOutput ?? Math.min(DEFAULT_MAX_OUTPUT, Math.floor(window / 4))
  return { window, maxOutput, point: window - maxOutput }
}

function windowByName(model: string) {
  const name = plainModelName(model)
  return WINDOWS.find(([prefix]) => name.startsWith(prefix))?.[1]
}
