import { homedir } from 'node:os'
import { join, relative } from 'node:path'
import type { SetupScope, ProjectEnvironment } from '../../contract/setup.ts'

export const SCOPES: readonly SetupScope[] = ['local', 'shared', 'user']

export interface SetupPaths {
  readonly scope: SetupScope
  readonly settings: string
  readonly commands: string
  readonly instructions: string
}

export function setupPaths(scope: SetupScope, { root, env }: ProjectEnvironment): SetupPaths {
  const folder = scope === 'user' ? configFolder(env) : join(root, '.claude')
  return {
    scope,
    settings: join(folder, scope === 'local' ? 'settings.local.json' : 'settings.json'),
    commands: join(folder, 'commands'),
    instructions: scope === 'user' ? folder : root,
  }
}

export function managedSettingsPaths(): readonly string[] {
  return [
    '/etc/claude-code/managed-settings.json',
    '/Library/Application Support/ClaudeCode/managed-settings.json',
  ]
}

export function configFolder({
  CLAUDE_CONFIG_DIR: configDir,
  HOME: home,
}: NodeJS.ProcessEnv): string {
  return configDir !== undefined && configDir !== ''
    ? configDir
    : join(home || homedir(), '.claude')
}

/**
 * Every version reads shared settings only in the folder it is started in; old versions also the
 * local ones.
 */
export function startFolderNote(
  scopes: readonly SetupScope[],
  project: ProjectEnvironment,
  cwd: string,
): readonly string[] {
  const { root } = project
  if (cwd === root || scopes.includes('user') || scopes.length === 0) return []
  const scope = scopes.includes('local') ? 'local' : 'shared'
  const file = relative(root, setupPaths(scope, project).settings)
  const who = scope === 'local' ? 'older versions of claude read' : 'claude reads'
  return [
    `${who} ${file} only if started in ${root}, not in a folder inside: start it there, or use --user`,
  ]
}
