import { join } from 'node:path'
import type { Harness, HarnessCheck, Permissions } from '../../harness/contract/drive.ts'
import { DEFAULT_HARNESS } from '../../harness/registry.ts'
import { StintError } from '../../journal/errors.ts'
import { runsFolder } from '../../project/store/run-files.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { harnessNamed } from '../harnesses.ts'
import type { PromptRequest } from './contract.ts'
import { harnessOfConversation } from './way-on.ts'
import { defined } from '../../text/defined.ts'

type Missing = Extract<HarnessCheck, { readonly isThere: false }>

/** The name of the harness that is prompted: the one asked for, that of the conversation, the configuration's, or Claude Code. */
export function harnessToPrompt(
  workspace: Workspace,
  session: string | undefined,
  request: PromptRequest,
): string {
  const { harness, conversation } = request
  if (conversation === undefined) return harness ?? workspace.config.run.harness ?? DEFAULT_HARNESS
  if (session === undefined) {
    throw new StintError(
      'NO_CONVERSATION',
      'a new session has no conversation to go on with',
      'leave --conversation out',
    )
  }
  const journal = workspace.session(session)
  const own = harnessOfConversation(journal.read().state, conversation)
  journal.close()
  // Of an agent that speaks ACP the journal knows that it does, and not its command.
  return harness ?? (own === 'acp' ? (workspace.config.run.harness ?? own) : own)
}

/** The harness itself. Of the rehearsal the session keeps what it remembers. */
export function promptedHarness(
  workspace: Workspace,
  name: string,
  { script }: PromptRequest,
  session?: string,
): Harness {
  const state =
    session === undefined ? {} : { state: join(runsFolder(workspace.place), 'prompts', session) }
  return harnessNamed(name, workspace, { ...state, ...defined({ script }) })
}

export function refusePermissions({ name, capabilities }: Harness, permissions: Permissions): void {
  if (capabilities.permissions.includes(permissions)) return
  throw new StintError(
    'NO_PERMISSIONS',
    `${name} does not keep to --permissions ${permissions}`,
    `it keeps to ${capabilities.permissions.join(', ')}`,
  )
}

/** What keeps it from being prompted, if anything does. */
export async function problemWith(
  harness: Harness,
  env: NodeJS.ProcessEnv,
): Promise<Missing | undefined> {
  const check = await harness.check(env)
  return check.isThere ? undefined : check
}

export async function refuseMissing(harness: Harness, env: NodeJS.ProcessEnv): Promise<void> {
  const missing = await problemWith(harness, env)
  if (missing !== undefined) throw new StintError('HARNESS_MISSING', missing.problem, missing.hint)
}
