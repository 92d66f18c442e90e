// Where Claude Code looks for what we install.
import { homedir } from 'node:os'
import { join } from 'node:path'
import { stateHome } from '../../../journal/state-home.ts'

/** For whom: this project and you alone, everybody who works on this project, or you in every project. */
export type Scope = 'local' | 'shared' | 'user'

export const SCOPES: readonly Scope[] = ['local', 'shared', 'user']

/** What setup has to know of its surroundings. */
export interface Surroundings {
  /** The folder that Claude Code is started in: the root of this worktree, or of a project without git. */
  readonly root: string
  readonly gitCommonDir: string | undefined
  readonly env: NodeJS.ProcessEnv
}

export interface SetupPlace {
  readonly scope: Scope
  readonly settings: string
  /** The folder of slash commands. */
  readonly commands: string
  /** The folder of `CLAUDE.md`. */
  readonly instructions: string
}

export function setupPlace(scope: Scope, { root, env }: Surroundings): SetupPlace {
  const folder = scope === 'user' ? configFolder(env) : join(root, '.claude')
  return {
    scope,
    settings: join(folder, scope === 'local' ? 'settings.local.json' : 'settings.json'),
    commands: join(folder, 'commands'),
    instructions: scope === 'user' ? folder : root,
  }
}

/** The settings that hold where these say nothing. */
export function moreGeneral(scope: Scope): readonly Scope[] {
  return SCOPES.slice(SCOPES.indexOf(scope) + 1)
}

export function machineFolder({ env }: Surroundings): string {
  return stateHome(env)
}

/** The settings that a machine's administrator keeps, and nobody overrides. */
export function managedSettings(): readonly string[] {
  return [
    '/etc/claude-code/managed-settings.json',
    '/Library/Application Support/ClaudeCode/managed-settings.json',
  ]
}

/** Where Claude Code keeps what is its own. */
export function configFolder({ CLAUDE_CONFIG_DIR: given, HOME: home }: NodeJS.ProcessEnv): string {
  return given !== undefined && given !== '' ? given : join(home || homedir(), '.claude')
}
