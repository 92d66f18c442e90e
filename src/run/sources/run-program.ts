// Programs that keep tasks: started with arguments, never through a shell, and not waited for without end.
import { execFile } from 'node:child_process'
import { StintError, errnoOf } from '../../journal/errors.ts'
import { oneLine, shorten } from '../../text/clean.ts'

export interface Program {
  readonly command: string
  /** What it is for, and how to get it. */
  readonly hint: string
}

export interface Surroundings {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly timeoutMs?: number
  /** What it reads; nothing when absent, since nobody is there to answer a question. */
  readonly input?: string
}

const TIMEOUT_MS = 60_000
const MOST_BYTES = 64 * 1024 * 1024

/** Runs it to its end and answers what it printed. */
export async function runProgram(
  program: Program,
  args: readonly string[],
  surroundings: Surroundings,
): Promise<string> {
  const { command } = program
  const { cwd, env, input, timeoutMs = TIMEOUT_MS } = surroundings
  const options = {
    cwd,
    env,
    timeout: timeoutMs,
    maxBuffer: MOST_BYTES,
    killSignal: 'SIGKILL',
    encoding: 'utf8',
  } as const
  return new Promise((resolve, reject) => {
    const child = execFile(command, args, options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else reject(failure(program, args, { error, stderr, timeoutMs }))
    })
    // One that does not read to the end says by its exit code what that means.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(input)
  })
}

/** The same for a program that prints JSON. */
export async function runForJson(
  program: Program,
  args: readonly string[],
  surroundings: Surroundings,
): Promise<unknown> {
  const printed = await runProgram(program, args, surroundings)
  try {
    return JSON.parse(printed)
  } catch (cause) {
    const shown = shorten(oneLine(printed), 120)
    const what = shown === '' ? 'nothing' : `no JSON but: ${shown}`
    throw new StintError('PROGRAM_FAILED', `${said(program, args)} printed ${what}`, program.hint, {
      cause,
    })
  }
}

interface Failure {
  readonly error: Error & {
    readonly code?: string | number | null
    readonly killed?: boolean
    readonly signal?: string | null
  }
  readonly stderr: string
  readonly timeoutMs: number
}

function failure(
  program: Program,
  args: readonly string[],
  { error, stderr, timeoutMs }: Failure,
): StintError {
  const { command, hint } = program
  const options = { cause: error }
  const code = errnoOf(error)
  if (code === 'ENOENT')
    return new StintError(
      'PROGRAM_MISSING',
      `there is no program ${command} on the PATH`,
      hint,
      options,
    )
  if (code === 'EACCES')
    return new StintError('PROGRAM_MISSING', `${command} cannot be started`, hint, options)
  const reason =
    code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER'
      ? 'it printed more than can be held'
      : error.killed === true
        ? `it took longer than ${timeoutMs / 1000} s`
        : complaint(stderr) ||
          (error.signal ? `ended by ${error.signal}` : `exit code ${error.code}`)
  return new StintError('PROGRAM_FAILED', `${said(program, args)} failed: ${reason}`, hint, options)
}

/** What it said on standard error, in one line. Some say it in JSON. */
function complaint(stderr: string): string {
  try {
    const { error } = JSON.parse(stderr) as { error?: unknown }
    if (typeof error === 'string') return shorten(oneLine(error), 300)
  } catch {
    // Plain words, as most programs say it.
  }
  return shorten(oneLine(stderr), 300)
}

// The first words name what was asked; what follows may be as long as an issue.
function said(program: Program, args: readonly string[]): string {
  return [program.command, ...args.filter((word) => /^[a-z]+$/.test(word)).slice(0, 2)].join(' ')
}
