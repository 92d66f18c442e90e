import { execFile } from 'node:child_process'
import { oneLine } from '../../text/clean.ts'
import type { HarnessCheck, HarnessProblem } from '../contract/drive.ts'
import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isProgram, programOutside } from '../../git/program-outside.ts'
import { findRepository } from '../../git/repository.ts'
import { StintError } from '../../journal/errors.ts'
import { statOrUndefined } from '../../journal/read-files.ts'
import type { HookProgram } from '../setup/launcher.ts'

/** A name is looked up outside the project only: a clone must not bring what is run for `claude` or `docker`. */
export function findProgram(
  command: string,
  env: NodeJS.ProcessEnv,
  cwd: string,
): string | undefined {
  if (command.includes('/')) return [resolve(cwd, command)].find(isProgram)
  const { mainRoot, worktree } = findRepository(cwd) ?? { mainRoot: cwd, worktree: cwd }
  return programOutside(command, env.PATH, [mainRoot, worktree])
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

export function missingProgram(
  program: string,
  env: NodeJS.ProcessEnv,
  hint: string,
): HarnessProblem | undefined {
  if (findProgram(program, env, process.cwd()) !== undefined) return undefined
  return { problem: `there is no program ${program}`, hint }
}

/** `failure` words the problem from the program's output. */
export async function checkVersion(
  program: string,
  env: NodeJS.ProcessEnv,
  hint: string,
  failure: (output: string) => string,
): Promise<HarnessCheck> {
  const path = findProgram(program, env, process.cwd())
  if (path === undefined) return { isThere: false, problem: `there is no program ${program}`, hint }
  const options = { env, timeout: VERSION_TIMEOUT_MS, encoding: 'utf8' } as const
  return new Promise((resolve) => {
    execFile(path, ['--version'], options, (error, stdout, stderr) => {
      const version = /\d+\.\d+\S*/.exec(stdout)?.[0]
      if (error === null && version !== undefined) return resolve({ isThere: true, version })
      const output = oneLine(stderr || stdout || error?.message || 'it says no version')
      resolve({ isThere: false, problem: `${program} --version ${failure(output)}`, hint })
    })
  })
}
