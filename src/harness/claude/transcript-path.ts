import { homedir } from 'node:os'
import { join } from 'node:path'
import { namesIn, statOrUndefined } from '../../journal/look.ts'

/** Where Claude Code writes a conversation down, once it does. */
export function transcriptOf(conversation: string, cwd: string, env: NodeJS.ProcessEnv): string | undefined {
  const { CLAUDE_CONFIG_DIR: given = '', HOME: home = '' } = env
  const projects = join(given === '' ? join(home === '' ? homedir() : home, '.claude') : given, 'projects')
  const name = `${conversation}.jsonl`
  const usual = join(projects, cwd.replaceAll(/[^A-Za-z0-9]/g, '-'), name)
  if (statOrUndefined(usual) !== undefined) return usual
  // Of a folder with a long name only the beginning is in the name of its own, and versions differ in the rest.
  return namesIn(projects)
    .map((project) => join(projects, project, name))
    .find((path) => statOrUndefined(path) !== undefined)
}
