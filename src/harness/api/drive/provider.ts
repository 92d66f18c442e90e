import type { Json } from '../../../text/json-fields.ts'
import { AnthropicReply, anthropicBody } from './anthropic.ts'
import type { ModelRequest, ReplyReader } from './reply.ts'
import { OpenAiReply, openAiBody } from './openai.ts'
import type { ApiSettings } from '../../contract/drive.ts'

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

/** People give the base with `/v1` and without. */
export function addressOf({ provider, baseUrl }: ApiSettings, path: string): string {
  const base = baseUrl.replace(/\/+$/, '')
  const needsVersion = provider === 'anthropic' && !/\/v\d+$/.test(base)
  return `${base}${needsVersion ? '/v1' : ''}/${path}`
}
