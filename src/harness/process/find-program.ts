import { execFile } from 'node:child_process'
import { oneLine } from '../../text/clean.ts'
import type { HarnessCheck } from '../contract/drive.ts'
import { accessSync, constants, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { StintError } from '../../journal/errors.ts'
import { statOrUndefined } from '../../journal/read-files.ts'
import type { HookProgram } from '../setup/launcher.ts'

export function findProgram(
  command: string,
  env: NodeJS.ProcessEnv,
  cwd: string,
): string | undefined {
  const folders = command.includes('/')
    ? ['']
    : (env.PATH ?? '').split(':').filter((folder) => folder !== '')
  return folders.map((folder) => resolve(cwd, folder, command)).find(isProgram)
}

function isProgram(path: string) {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    // Missing, or not executable.
    return false
  }
}

/** In the bundle, above its chunks, and from the sources. */
const STINT_PATHS = ['./stint.js', '../stint.js', '../../../dist/stint.js']

export function findStintProgram(from: string = import.meta.url): string {
  const found = STINT_PATHS.map((path) => fileURLToPath(new URL(path, from))).find(
    (path) => statOrUndefined(path)?.isFile() === true,
  )
  if (found !== undefined) return found
  throw new StintError(
    'NOT_BUILT',
    'this Stint runs from its sources and is not built',
    'npm run build',
  )
}

const HOOK_FILE = 'hook.cjs'

export function findHookProgram(
  from: string = import.meta.url,
  node: string = process.execPath,
): HookProgram | undefined {
  const folder = findFolderWith(fileURLToPath(from), HOOK_FILE)
  return folder === undefined ? undefined : { node, hook: join(folder, HOOK_FILE) }
}

export function stintVersion(from: string = import.meta.url): string {
  const folder = findFolderWith(fileURLToPath(from), 'package.json')
  const { version } = JSON.parse(readFileSync(join(folder!, 'package.json'), 'utf8')) as {
    version: string
  }
  return version
}

function findFolderWith(path: string, name: string): string | undefined {
  const folder = dirname(path)
  const holds = (file: string) => statOrUndefined(join(folder, file))?.isFile() === true
  if (holds(name)) return folder
  return folder === path || holds('package.json') ? undefined : findFolderWith(folder, name)
}

const VERSION_TIMEOUT_MS = 30_000

/** `failure` words the problem from the program's output. */
export function checkVersion(
  program: string,
  env: NodeJS.ProcessEnv,
  hint: string,
  failure: (output: string) => string,
): Promise<HarnessCheck> {
  const options = { env, timeout: VERSION_TIMEOUT_MS, encoding: 'utf8' } as const
  return new Promise((resolve) => {
    execFile(program, ['--version'], options, (error, stdout, stderr) => {
      const version = /\d+\.\d+\S*/.exec(stdout)?.[0]
      if (error === null && version !== undefined) return resolve({ isThere: true, version })
      const output = oneLine(stderr || stdout || error?.message || 'it says no version')
      const problem =
        error?.code === 'ENOENT'
          ? `there is no program ${program}`
          : `${program} --version ${failure(output)}`
      resolve({ isThere: false, problem, hint })
    })
  })
}
