import type { ConversationStore } from '../../history/store.ts'
import { StintError } from '../../journal/errors.ts'
import { mintId } from '../../journal/ids.ts'
import { stintVersion } from '../process/find-program.ts'
import type {
  ApiSettings,
  Capabilities,
  Conversation,
  DriveRequest,
  Harness,
  HarnessCheck,
  HarnessProblem,
  ConversationOptions,
} from '../contract/drive.ts'
import { ApiHistory, INSTRUCTION_FILES, openingMessages } from './drive/api-history.ts'
import { fetchModel, readRefusal } from './drive/ask-model.ts'
import { ApiConversation } from './drive/conversation.ts'
import { ModelFailure } from './drive/model-failure.ts'
import { endpointUrl, protocolFor } from './drive/provider.ts'
import { isLoopbackUrl, keyVariable, tokenLimits, findApiSettings } from './drive/settings.ts'
import { ToolProgram } from './drive/tools/tool-program.ts'
import { defined } from '../../text/defined.ts'

interface ApiOptions {
  readonly name: string
  readonly settings: ApiSettings
  readonly store: ConversationStore
  readonly retryDelays?: readonly number[]
}

const CAPABILITIES: Capabilities = {
  multiTurn: true,
  usage: 'request',
  compactionEvents: false,
  resume: true,
  systemPrompt: true,
  permissions: ['ask', 'edits', 'all'],
  instructions: INSTRUCTION_FILES,
}

export function apiHarnessFor({ name, argument, models, store }: DriveRequest): Harness {
  const settings = findApiSettings(name, models)
  if (settings !== undefined) return apiHarness({ name, settings, store: store() })
  const configured = Object.keys(models.providers).map((known) => `api:${known}`)
  throw new StintError(
    'NO_MODEL',
    `.sessions/config.yaml does not say which model ${name} is`,
    `set provider and model under api${argument === undefined ? '' : `.providers.${argument}`}${configured.length === 0 ? '' : `, or use ${configured.join(', ')}`}`,
  )
}

export function apiHarness(api: ApiOptions): Harness {
  return {
    name: api.name,
    capabilities: CAPABILITIES,
    missing: async (env) => missingKey(api.settings, env),
    check: (env) => checkApi(api.settings, env),
    open: async (options) => openApi(api, options),
  }
}

function missingKey(settings: ApiSettings, env: NodeJS.ProcessEnv): HarnessProblem | undefined {
  try {
    readKey(settings, env)
    return undefined
  } catch (error) {
    if (!(error instanceof StintError)) throw error
    return { problem: error.message, hint: error.hint ?? '' }
  }
}

const CHECK_TIMEOUT_MS = 10_000

/** Not every server lists its models; any answer but 401 counts. */
async function checkApi(settings: ApiSettings, env: NodeJS.ProcessEnv): Promise<HarnessCheck> {
  const { host } = new URL(settings.baseUrl)
  try {
    const key = readKey(settings, env)
    const headers = { ...settings.headers, ...protocolFor(settings).headers(key) }
    const signal = AbortSignal.timeout(CHECK_TIMEOUT_MS)
    const response = await fetchModel(endpointUrl(settings, 'models'), {
      headers,
      redirect: 'manual',
      signal,
    })
    if (response.status === 401) throw await readRefusal(response, settings, key)
    await response.body?.cancel()
    return {
      isThere: true,
      version: `${stintVersion()} with ${settings.model ?? settings.provider} at ${host}`,
    }
  } catch (error) {
    if (error instanceof StintError)
      return { isThere: false, problem: error.message, hint: error.hint ?? '' }
    if (!(error instanceof ModelFailure)) throw error
    const hint = isLoopbackUrl(settings.baseUrl)
      ? 'start the server, or mend api.base_url'
      : 'see to the network, the key, and api.base_url'
    return { isThere: false, problem: error.message, hint: `${hint} in .sessions/config.yaml` }
  }
}

function openApi(
  { name, settings, store, retryDelays }: ApiOptions,
  request: ConversationOptions,
): Conversation {
  const model = request.model ?? settings.model
  if (model === undefined)
    throw new StintError(
      'NO_MODEL',
      `${name} names no model`,
      'give --model, or set api.model in .sessions/config.yaml',
    )
  const key = readKey(settings, request.env)
  const { resume } = request
  if (resume !== undefined && !store.has(resume))
    throw new StintError(
      'NO_CONVERSATION',
      `there is no conversation ${resume} here to go on with`,
      'begin a new one',
    )
  // Commands of the agent must not see the key.
  const env = Object.fromEntries(
    Object.entries(request.env).filter(([variable]) => variable !== keyVariable(settings)),
  )
  const options = { ...request, env }
  const id = resume ?? mintId(undefined)
  const history = new ApiHistory(store, id)
  const { cwd, systemPrompt } = options
  const { initialFiles } = settings
  const tools = new ToolProgram(options)
  const limits = tokenLimits(settings, model)
  const context = {
    settings,
    model,
    limits,
    key,
    history,
    tools,
    options,
    ...defined({ retryDelays }),
  }
  return new ApiConversation(id, context, () => {
    const at = new Date().toISOString()
    history.begin({ harness: name, at, cwd, model }, () =>
      openingMessages({ cwd, systemPrompt, initialFiles }),
    )
  })
}

function readKey(settings: ApiSettings, env: NodeJS.ProcessEnv) {
  const variable = keyVariable(settings)
  if (variable === undefined) return undefined
  const key = env[variable]?.trim() ?? ''
  // An invalid header value would be repeated in the error.
  if (/[^!-~]/.test(key))
    throw new StintError(
      'NO_KEY',
      `what is in ${variable} is no key`,
      'it has a space or a line end in it',
    )
  if (isLoopbackUrl(settings.baseUrl)) return key === '' ? undefined : key
  if (key === '')
    throw new StintError(
      'NO_KEY',
      `there is no key in ${variable}`,
      `export ${variable}=…, or name another variable as api.key_env`,
    )
  if (new URL(settings.baseUrl).protocol !== 'https:')
    throw new StintError(
      'KEY_IN_THE_OPEN',
      `${settings.baseUrl} would get the key without encryption`,
      'use https, or a server on this machine',
    )
  return key
}
