// What Codex is told for one thread. Nothing of it is written into its configuration.
import type { OpenConversation, Permissions } from '../../contract/drive.ts'
import type { Json } from '../../../text/json-fields.ts'
import { defined } from '../../../text/defined.ts'

type Options = Pick<OpenConversation, 'cwd' | 'env' | 'model' | 'systemPrompt' | 'resume'>

/**
 * The parameters with which a thread begins or goes on.
 *
 * It begins with reading only, and each turn says what it may do. Asked for more at once, Codex writes into the user's
 * configuration that the folder is trusted.
 */
export function threadParams(
  options: Options,
  mark: string,
  theirInstructions: string | undefined,
): Json {
  const { cwd, env, model, systemPrompt, resume } = options
  // Instructions for a thread stand in place of those in the user's configuration, which are to hold as well.
  const instructions = [theirInstructions, systemPrompt]
    .filter((text) => text !== undefined)
    .join('\n\n')
  return {
    cwd,
    sandbox: 'read-only',
    approvalPolicy: 'untrusted',
    approvalsReviewer: 'user',
    ...defined({ model }),
    // Again when it goes on: otherwise the next compaction would lose them.
    ...(systemPrompt === undefined ? {} : { developerInstructions: instructions }),
    ...(resume === undefined ? {} : { threadId: resume, excludeTurns: true }),
    config: {
      // A goal begins turns by itself, which nobody would watch.
      'features.goals': false,
      // Where the PATH would be the machine's again, without ours.
      allow_login_shell: false,
      ...environment({ ...env, STINT_MARK: mark }),
    },
  }
}

/** Set by name for every command: the user may have said that hardly any variable is passed on. */
function environment(env: NodeJS.ProcessEnv): Json {
  const names = Object.keys(env).filter((name) => name === 'PATH' || /^STINT_\w+$/.test(name))
  return Object.fromEntries(
    names.map((name) => [`shell_environment_policy.set.${name}`, env[name]]),
  )
}

/**
 * What a turn may do. Except under `all`, every command is asked for, and runs outside any sandbox once it is allowed.
 *
 * The sandbox of Codex would not do: it keeps git from writing to `.git`, and to that of a linked worktree whichever folders
 * are made writable; a command that fails in it is run a second time outside; and where no namespaces can be made, as in
 * many containers, nothing runs at all.
 */
export function turnParams(permissions: Permissions): Json {
  return {
    approvalPolicy: permissions === 'all' ? 'never' : 'untrusted',
    sandboxPolicy: { type: 'dangerFullAccess' },
  }
}
