import { BASE_URLS, LONGEST_SILENCE_SECONDS } from '../../harness/api/drive/settings.ts'
import type { ApiSettings, ModelSettings } from '../../harness/contract/drive.ts'
import {
  type ConfigRule,
  mapOf,
  rule,
  section,
  textRule,
  textListRule,
  refine,
  wholeNumberFrom,
} from './validators.ts'

const tokens = wholeNumberFrom(1, 'must be a whole number of tokens')

const address = refine(textRule, (value, key, refuse) => {
  if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol))
    throw refuse(`"${key}" must be an address with http or https`)
  const { username, password } = new URL(value)
  // Addresses are shown and stored, so they must hold no secret.
  if (username !== '' || password !== '')
    throw refuse(`"${key}" must not hold a name or a password`)
  return value
})

const variable = refine(textRule, (value, key, refuse) => {
  if (/^[A-Za-z_]\w*$/.test(value)) return value
  throw refuse(
    `"${key}" is the name of a variable of the environment that holds the key, and not the key`,
  )
})

const header: ConfigRule<string> = (value, key, refuse) => {
  const name = key.slice(key.lastIndexOf('.') + 1)
  if (typeof value !== 'string' || !/^[\w-]+$/.test(name) || !/^[ -~]*$/.test(value))
    throw refuse(`"${key}" must be a header and its text`)
  if (/^(?:authorization|x-api-key|api-key|cookie)$/i.test(name))
    throw refuse(`"${key}" would put a key into a file; name its variable as key_env`)
  return value
}

const RULES = {
  provider: rule<'anthropic' | 'openai'>(
    (value) => value === 'anthropic' || value === 'openai',
    'is anthropic or openai',
  ),
  base_url: address,
  model: textRule,
  key_env: variable,
  window: tokens,
  max_output: tokens,
  silence_seconds: rule<number>(
    (value) => typeof value === 'number' && value > 0 && value <= LONGEST_SILENCE_SECONDS,
    `must be a number of seconds, up to ${LONGEST_SILENCE_SECONDS}`,
  ),
  headers: mapOf(header),
  initial_files: textListRule,
  effort: textRule,
  thinking: ((value, key, refuse) =>
    value === 'adaptive' ? value : tokens(value, key, refuse)) satisfies ConfigRule<
    number | 'adaptive'
  >,
}

const settings: ConfigRule<ApiSettings> = refine(section(RULES), (parsed, key, refuse) => {
  const { provider, window, maxOutput, thinking } = parsed
  if (provider === undefined) throw refuse(`"${key}.provider" is anthropic or openai`)
  if (typeof thinking === 'number' && maxOutput !== undefined && thinking >= maxOutput)
    throw refuse(`"${key}.thinking" must be below "${key}.max_output", which holds it`)
  if (window !== undefined && maxOutput !== undefined && maxOutput >= window)
    throw refuse(`"${key}.max_output" must be below "${key}.window"`)
  return { baseUrl: BASE_URLS[provider], headers: {}, initialFiles: [], ...parsed, provider }
})

export const apiSettings: ConfigRule<ModelSettings> = (value, key, refuse) => {
  const { providers, ...defaults } = mapOf((item) => item)(value, key, refuse)
  return {
    ...(Object.keys(defaults).length === 0 ? {} : { usual: settings(defaults, key, refuse) }),
    providers: mapOf(settings)(providers ?? {}, `${key}.providers`, refuse),
  }
}
