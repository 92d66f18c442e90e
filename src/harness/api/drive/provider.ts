import type { Json } from '../../../text/json-fields.ts'
import { AnthropicReply } from './anthropic-reply.ts'
import { anthropicBody } from './anthropic-request.ts'
import type { ModelRequest } from './model-request.ts'
import { openAiBody } from './openai-request.ts'
import { OpenAiReply } from './openai-reply.ts'
import type { ReplyReader } from './reply.ts'
import type { ApiSettings } from './settings.ts'

/** How the two kinds of API differ. */
export interface ProviderForm {
  readonly body: (request: ModelRequest) => Json
  readonly reader: () => ReplyReader
  readonly headers: (key: string | undefined) => Readonly<Record<string, string>>
  readonly path: string
}

const FORMS: Readonly<Record<ApiSettings['provider'], ProviderForm>> = {
  anthropic: {
    body: anthropicBody,
    reader: () => new AnthropicReply(),
    headers: (key) => ({
      'anthropic-version': '2023-06-01',
      ...(key === undefined ? {} : { 'x-api-key': key }),
    }),
    path: 'messages',
  },
  openai: {
    body: openAiBody,
    reader: () => new OpenAiReply(),
    headers: (key): Readonly<Record<string, string>> =>
      key === undefined ? {} : { authorization: `Bearer ${key}` },
    path: 'chat/completions',
  },
}

export function formOf({ provider }: ApiSettings): ProviderForm {
  return FORMS[provider]
}

/** An address under the base, which people give with `/v1` and without. */
export function addressOf({ provider, baseUrl }: ApiSettings, path: string): string {
  const base = baseUrl.replace(/\/+$/, '')
  const needsVersion = provider === 'anthropic' && !/\/v\d+$/.test(base)
  return `${base}${needsVersion ? '/v1' : ''}/${path}`
}
