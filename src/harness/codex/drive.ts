import { checkVersion, missingProgram } from '../process/find-program.ts'
import { StintError } from '../../journal/errors.ts'
import { cleanText } from '../../text/clean.ts'
import type { Harness, ConversationOptions } from '../contract/drive.ts'
import { type Json, asCount, asName, asObject, asText } from '../../text/json-fields.ts'
import { spawnGuarded } from '../process/spawn-guarded.ts'
import { CodexConversation } from './drive/conversation.ts'
import { defined } from '../../text/defined.ts'

/** Another program may start and never respond. */
const OPEN_TIMEOUT_MS = 120_000
const HINT = 'npm install -g @openai/codex, or name the program in STINT_CODEX'

export const codexHarness: Harness = {
  name: 'codex',
  capabilities: {
    multiTurn: true,
    usage: 'request',
    compactionEvents: true,
    resume: true,
    systemPrompt: true,
    permissions: ['ask', 'edits', 'all'],
    instructions: ['AGENTS.md'],
  },
  missing: async (env) => missingProgram(codexProgram(env), env, HINT),
  check: (env) => checkVersion(codexProgram(env), env, HINT, () => 'does not tell a version'),
  open: openConversation,
}

function codexProgram(env: NodeJS.ProcessEnv) {
  return asText(env.STINT_CODEX) ?? 'codex'
}

async function openConversation(options: ConversationOptions) {
  const { cwd, env, wrap } = options
  const guarded = spawnGuarded(codexProgram(env), ['app-server'], { cwd, env, wrap })
  const conversation = new CodexConversation(guarded, options)
  const timer = setTimeout(() => void guarded.end(), OPEN_TIMEOUT_MS)
  try {
    await beginThread(conversation, options)
    return conversation
  } catch (error) {
    await guarded.end()
    throw openError(error, guarded.stderrTail(), options.resume)
  } finally {
    clearTimeout(timer)
  }
}

async function beginThread(conversation: CodexConversation, options: ConversationOptions) {
  const { server, process } = conversation
  const clientInfo = { name: 'stint', title: 'Stint', version: '1' }
  // `thread/backgroundTerminals/clean` is experimental.
  const capabilities = { experimentalApi: true, requestAttestation: false }
  await server.request('initialize', { clientInfo, capabilities })
  server.notify('initialized')
  // Older servers do not know this request.
  const read: Json = await server
    .request('config/read', { includeLayers: false, cwd: options.cwd })
    .catch(() => ({}))
  const configuration = asObject(read.config)
  const tags = [options.env.STINT_MARK, process.mark].filter(Boolean).join('.')
  const params = threadParams(options, tags, asText(configuration?.developer_instructions))
  const method = options.resume === undefined ? 'thread/start' : 'thread/resume'
  const response = await server.request(method, params)
  const thread = asName(asObject(response.thread)?.id)
  if (thread === undefined) throw new Error(`Codex answered ${method} without an id`)
  const compactsAt = asCount(configuration?.model_auto_compact_token_limit)
  conversation.begin(thread, asName(response.model), compactsAt)
}

function openError(cause: unknown, stderr: string, resume: string | undefined) {
  const reason = cause instanceof Error ? cause.message : String(cause)
  const output = cleanText(stderr).slice(-1000)
  const hint =
    resume === undefined
      ? 'codex login, and codex --version: the app-server of 0.166.0 is known to work'
      : `codex resume ${resume} shows whether the conversation is still there`
  return new StintError(
    'HARNESS_NOT_OPENED',
    cleanText(`Codex did not open a conversation: ${reason}\n${output}`),
    hint,
    { cause },
  )
}

/**
 * A thread starts read-only and each turn sets its permissions: otherwise Codex marks the folder as
 * trusted in the user's configuration.
 */
function threadParams(
  options: ConversationOptions,
  tags: string,
  userInstructions: string | undefined,
) {
  const { cwd, env, model, systemPrompt, resume } = options
  // Instructions of a thread replace those of the user's configuration, so both are sent.
  const instructions = [userInstructions, systemPrompt]
    .filter((text) => text !== undefined)
    .join('\n\n')
  return {
    cwd,
    sandbox: 'read-only',
    approvalPolicy: 'untrusted',
    approvalsReviewer: 'user',
    ...defined({ model }),
    // Also on resume, or the next compaction would lose them.
    ...(systemPrompt === undefined ? {} : { developerInstructions: instructions }),
    ...(resume === undefined ? {} : { threadId: resume, excludeTurns: true }),
    config: {
      // Goals start turns on their own.
      'features.goals': false,
      // A login shell would reset the PATH.
      allow_login_shell: false,
      ...environmentConfig({ ...env, STINT_MARK: tags }),
    },
  }
}

/** By name, because the user may have limited which variables are passed on. */
function environmentConfig(env: NodeJS.ProcessEnv) {
  const names = Object.keys(env).filter((name) => name === 'PATH' || /^STINT_\w+$/.test(name))
  return Object.fromEntries(
    names.map((name) => [`shell_environment_policy.set.${name}`, env[name]]),
  )
}
