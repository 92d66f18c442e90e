import { accessSync, constants, statSync } from 'node:fs'
import { resolve } from 'node:path'

/** Where a command would be found, as a shell would look for it; undefined when it would not. */
export function findProgram(
  command: string,
  env: NodeJS.ProcessEnv,
  cwd: string,
): string | undefined {
  const folders = command.includes('/')
    ? ['']
    : (env['PATH'] ?? '').split(':').filter((folder) => folder !== '')
  return folders.map((folder) => resolve(cwd, folder, command)).find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    // Not there, or not ours to run: either way no program.
    return false
  }
}
