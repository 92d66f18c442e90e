import { accessSync, constants, statSync } from 'node:fs'
import { resolve } from 'node:path'

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
    // Missing, or not executable.
    return false
  }
}
