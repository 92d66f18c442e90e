import { homedir } from 'node:os'
import { join } from 'node:path'
import { namesIn, statOrUndefined } from '../../../journal/look.ts'

/** Where Claude Code writes down a conversation that was begun in a folder. */
export function usualTranscript(conversation: string, cwd: string, env: NodeJS.ProcessEnv): string {
  return join(projectsFolder(env), cwd.replaceAll(/[^A-Za-z0-9]/g, '-'), `${conversation}.jsonl`)
}

/** Where it has written it down, if it has. */
export function transcriptOf(
  conversation: string,
  cwd: string,
  env: NodeJS.ProcessEnv,
): string | undefined {
  const usual = usualTranscript(conversation, cwd, env)
  if (statOrUndefined(usual) !== undefined) return usual
  // Of a folder with a long name only the beginning is in the name of its own, and versions differ in the rest.
  const projects = projectsFolder(env)
  return namesIn(projects)
    .map((project) => join(projects, project, `${conversation}.jsonl`))
    .find((path) => statOrUndefined(path) !== undefined)
}

function projectsFolder({
  CLAUDE_CONFIG_DIR: given = '',
  HOME: home = '',
}: NodeJS.ProcessEnv): string {
  return join(given === '' ? join(home === '' ? homedir() : home, '.claude') : given, 'projects')
}
