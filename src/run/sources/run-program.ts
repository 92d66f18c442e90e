// External programs run with an argument list, never through a shell, and with a timeout.
import { execFile } from 'node:child_process'
import { findProgram } from '../../harness/process/find-program.ts'
import { StintError, errnoOf } from '../../journal/errors.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { oneLine, shorten } from '../../text/clean.ts'

export interface Program {
  readonly command: string
  readonly hint: string
}

interface ProgramOptions {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly timeoutMs?: number
  readonly input?: string
}

export const GH: Program = {
  command: 'gh',
  hint: 'install the GitHub CLI, then gh auth login, in a clone of a repository on GitHub',
}

export function ghEnvironment({ paths, env }: Workspace) {
  return { cwd: paths.root, env: { ...env, GH_PROMPT_DISABLED: '1', NO_COLOR: '1' } }
}

export async function runExternalProgram(
  program: Program,
  args: readonly string[],
  { cwd, env, input, timeoutMs = 60_000 }: ProgramOptions,
): Promise<string> {
  const limits = {
    timeout: timeoutMs,
    maxBuffer: 64 * 1024 * 1024,
    killSignal: 'SIGKILL',
  } as const
  const path = findProgram(program.command, env, cwd)
  if (path === undefined) throw missing(program)
  return new Promise((resolve, reject) => {
    const options = { cwd, env, encoding: 'utf8', ...limits } as const
    const child = execFile(path, args, options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else reject(failure(program, args, error, stderr, timeoutMs))
    })
    // A program that does not read its input reports by its exit code.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(input)
  })
}

export async function runForJson(
  program: Program,
  args: readonly string[],
  where: ProgramOptions,
): Promise<unknown> {
  const printed = await runExternalProgram(program, args, where)
  try {
    return JSON.parse(printed)
  } catch (cause) {
    const shown = shorten(oneLine(printed), 120)
    const what = `printed ${shown === '' ? 'nothing' : `no JSON but: ${shown}`}`
    throw new StintError('PROGRAM_FAILED', `${describeCall(program, args)} ${what}`, program.hint, {
      cause,
    })
  }
}

function failure(
  program: Program,
  args: readonly string[],
  cause: NonNullable<Parameters<NonNullable<Parameters<typeof execFile>[3]>>[0]>,
  stderr: string,
  timeoutMs: number,
): StintError {
  const { command, hint } = program
  const { killed, signal, code: exit } = cause
  const code = errnoOf(cause)
  if (code === 'ENOENT') return missing(program, cause)
  if (code === 'EACCES')
    return new StintError('PROGRAM_MISSING', `${command} cannot be started`, hint, { cause })
  let reason = stderrLine(stderr) || (signal ? `ended by ${signal}` : `exit code ${exit}`)
  if (killed === true) reason = `it took longer than ${timeoutMs / 1000} s`
  if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') reason = 'it printed more than can be held'
  const what = `${describeCall(program, args)} failed: ${reason}`
  return new StintError('PROGRAM_FAILED', what, hint, { cause })
}

function missing({ command, hint }: Program, cause?: Error): StintError {
  return new StintError('PROGRAM_MISSING', `there is no program ${command} on the PATH`, hint, {
    cause,
  })
}

/** Stderr in one line. Some programs print it as JSON. */
function stderrLine(stderr: string) {
  try {
    const { error } = JSON.parse(stderr) as { error?: unknown }
    if (typeof error === 'string') return shorten(oneLine(error), 300)
  } catch {
    // Plain text, as most programs print it.
  }
  return shorten(oneLine(stderr), 300)
}

// Only the subcommands, because an argument may be as long as an issue.
function describeCall(program: Program, args: readonly string[]): string {
  return [program.command, ...args.filter((word) => /^[a-z]+$/.test(word)).slice(0, 2)].join(' ')
}
