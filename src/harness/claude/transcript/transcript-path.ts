import { homedir } from 'node:os'
import { join } from 'node:path'
import { namesIn, statOrUndefined } from '../../../journal/look.ts'

export function usualTranscript(conversation: string, cwd: string, env: NodeJS.ProcessEnv): string {
  return join(projectsFolder(env), cwd.replaceAll(/[^A-Za-z0-9]/g, '-'), `${conversation}.jsonl`)
}

export function transcriptOf(
  conversation: string,
  cwd: string,
  env: NodeJS.ProcessEnv,
): string | undefined {
  const usual = usualTranscript(conversation, cwd, env)
  if (statOrUndefined(usual) !== undefined) return usual
  // Long folder names are shortened, differently in each version.
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
