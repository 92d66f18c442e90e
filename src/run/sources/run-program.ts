// Programs that keep tasks: started with arguments, never through a shell, and with a timeout.
import { execFile } from 'node:child_process'
import { StintError, errnoOf } from '../../journal/errors.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { oneLine, shorten } from '../../text/clean.ts'

export interface Program {
  readonly command: string
  readonly hint: string
}

interface Where {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly timeoutMs?: number
  readonly input?: string
}

export const GH: Program = {
  command: 'gh',
  hint: 'install the GitHub CLI, then gh auth login, in a clone of a repository on GitHub',
}

export function ghEnvironment({ paths: place, env }: Workspace) {
  return { cwd: place.root, env: { ...env, GH_PROMPT_DISABLED: '1', NO_COLOR: '1' } }
}

export async function runExternalProgram(
  program: Program,
  args: readonly string[],
  { cwd, env, input, timeoutMs = 60_000 }: Where,
): Promise<string> {
  const limits = {
    timeout: timeoutMs,
    maxBuffer: 64 * 1024 * 1024,
    killSignal: 'SIGKILL',
  } as const
  return new Promise((resolve, reject) => {
    const options = { cwd, env, encoding: 'utf8', ...limits } as const
    const child = execFile(program.command, args, options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else reject(failure(program, args, error, stderr, timeoutMs))
    })
    // One that does not read to the end reports by its exit code.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(input)
  })
}

export async function runForJson(
  program: Program,
  args: readonly string[],
  where: Where,
): Promise<unknown> {
  const printed = await runExternalProgram(program, args, where)
  try {
    return JSON.parse(printed)
  } catch (cause) {
    const shown = shorten(oneLine(printed), 120)
    const what = `printed ${shown === '' ? 'nothing' : `no JSON but: ${shown}`}`
    throw new StintError('PROGRAM_FAILED', `${said(program, args)} ${what}`, program.hint, {
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
  if (code === 'ENOENT' || code === 'EACCES') {
    const what =
      code === 'ENOENT'
        ? `there is no program ${command} on the PATH`
        : `${command} cannot be started`
    return new StintError('PROGRAM_MISSING', what, hint, { cause })
  }
  let reason = complaint(stderr) || (signal ? `ended by ${signal}` : `exit code ${exit}`)
  if (killed === true) reason = `it took longer than ${timeoutMs / 1000} s`
  if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') reason = 'it printed more than can be held'
  const what = `${said(program, args)} failed: ${reason}`
  return new StintError('PROGRAM_FAILED', what, hint, { cause })
}

/** Its standard error in one line. Some programs print it as JSON. */
function complaint(stderr: string) {
  try {
    const { error } = JSON.parse(stderr) as { error?: unknown }
    if (typeof error === 'string') return shorten(oneLine(error), 300)
  } catch {
    // Plain words, as most programs print it.
  }
  return shorten(oneLine(stderr), 300)
}

// The first words name what was asked; what follows may be as long as an issue.
function said(program: Program, args: readonly string[]): string {
  return [program.command, ...args.filter((word) => /^[a-z]+$/.test(word)).slice(0, 2)].join(' ')
}
