import type { OpenConversation, Permissions } from '../../contract/drive.ts'
import type { Json } from '../../../text/json-fields.ts'
import { defined } from '../../../text/defined.ts'

type Options = Pick<OpenConversation, 'cwd' | 'env' | 'model' | 'systemPrompt' | 'resume'>

/**
 * It starts read-only and each turn says what it may do: otherwise Codex marks the folder as
 * trusted in the user's configuration.
 */
export function threadParams(
  options: Options,
  mark: string,
  theirInstructions: string | undefined,
): Json {
  const { cwd, env, model, systemPrompt, resume } = options
  // Instructions of a thread replace those of the user's configuration, so both are sent.
  const instructions = [theirInstructions, systemPrompt]
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
      // A goal starts turns by itself.
      'features.goals': false,
      // A login shell would reset the PATH.
      allow_login_shell: false,
      ...environment({ ...env, STINT_MARK: mark }),
    },
  }
}

/** By name, because the user may have limited which variables are passed on. */
function environment(env: NodeJS.ProcessEnv): Json {
  const names = Object.keys(env).filter((name) => name === 'PATH' || /^STINT_\w+$/.test(name))
  return Object.fromEntries(
    names.map((name) => [`shell_environment_policy.set.${name}`, env[name]]),
  )
}

/**
 * Codex's sandbox blocks writes to `.git`, repeats failed commands outside, and needs namespaces
 * that many containers lack; so every command is asked for instead, except under `all`.
 */
export function turnParams(permissions: Permissions): Json {
  return {
    approvalPolicy: permissions === 'all' ? 'never' : 'untrusted',
    sandboxPolicy: { type: 'dangerFullAccess' },
  }
}
