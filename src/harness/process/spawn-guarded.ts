import { statSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { StintError } from '../../journal/errors.ts'
import { randomHex } from '../../journal/random.ts'
import type { ProcessMark } from '../contract/drive.ts'
import { findProgram } from './find-program.ts'
import { linesOf } from './lines.ts'
import { type Guardian, startGuardian } from './start-guardian.ts'
import { endStrays, startOf } from './strays.ts'

export interface Exit {
  readonly code: number | null
  readonly signal: string | null
}

export interface GuardedProcess {
  /** Never emits an error: writes to a program that is gone are lost. */
  readonly stdin: Writable
  readonly lines: AsyncIterable<string>
  readonly mark: ProcessMark
  stderrTail(): string
  /** Resolves when neither it nor anything it started is left. */
  readonly exited: Promise<Exit>
  /** Kills what is left after the grace. A second call may shorten it. */
  end(graceMs?: number): Promise<void>
}

const MARK = 'STINT_MARK'
const TAIL_BYTES = 8 * 1024
const GUARDIAN_SLACK_MS = 15_000

interface Surroundings {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly wrap?: readonly string[] | undefined
}

export function spawnGuarded(
  command: string,
  args: readonly string[],
  { cwd, env, wrap = [] }: Surroundings,
): GuardedProcess {
  if (statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new StintError(
      'FOLDER_MISSING',
      `there is no folder ${cwd}`,
      'a program needs a folder to run in',
    )
  const [first = command, ...words] = [...wrap, command, ...args]
  const program = findProgram(first, env, cwd)
  if (program === undefined)
    throw new StintError(
      'PROGRAM_MISSING',
      `there is no program ${first}`,
      'install it, or put its folder on the PATH',
    )

  const mark = randomHex(16)
  const marks = [env[MARK], mark].filter(Boolean).join('.')
  const guardian = startGuardian(
    { mark, command: program, args: words, cwd, env: { ...env, [MARK]: marks } },
    { [MARK]: marks },
  )
  const { stdin, stdout, stderr } = guardian.child
  stdin!.on('error', () => undefined)
  const tail = new Tail(stderr!)
  const processMark = { pid: guardian.pid, startedAt: startOf(guardian.pid), mark }
  const exited = exitOf(guardian, processMark)
  return {
    stdin: stdin!,
    lines: linesOf(stdout!),
    mark: processMark,
    stderrTail: () => tail.text,
    exited,
    end: async (graceMs = 2000) => {
      guardian.end(graceMs)
      const stuck = setTimeout(() => guardian.child.kill('SIGKILL'), graceMs + GUARDIAN_SLACK_MS)
      await exited
      clearTimeout(stuck)
    },
  }
}

async function exitOf(guardian: Guardian, mark: ProcessMark): Promise<Exit> {
  const ended = await guardian.ended
  if (ended !== undefined) return { code: ended.code ?? null, signal: ended.signal ?? null }
  // The guardian itself was killed; what it guarded lives on.
  await endStrays(mark)
  return { code: null, signal: 'SIGKILL' }
}

class Tail {
  #bytes = Buffer.alloc(0)

  constructor(stream: Readable) {
    stream.on('error', () => undefined)
    stream.on('data', (piece: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, piece]).subarray(-TAIL_BYTES)
    })
  }

  get text(): string {
    return this.#bytes.toString('utf8')
  }
}
