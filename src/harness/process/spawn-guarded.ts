import { oneLine, shorten } from '../../text/clean.ts'
import { readFileSync, statSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { StintError } from '../../journal/errors.ts'
import { randomHex } from '../../journal/ids.ts'
import type { ProcessTag } from '../contract/drive.ts'
import { findProgram } from './find-program.ts'
import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { type GuardianReport, GUARDIAN, type GuardianRequest } from './guardian.ts'

export interface ProcessExit {
  readonly code: number | null
  readonly signal: string | null
}

export interface GuardedProcess {
  /** Never emits an error: writes to a program that has exited are lost. */
  readonly stdin: Writable
  readonly lines: AsyncIterable<string>
  readonly tag: ProcessTag
  stderrTail(): string
  /** Resolves when the program and everything it started are gone. */
  readonly exited: Promise<ProcessExit>
  /** Kills what is left after the grace period. A second call may shorten it. */
  end(graceMs?: number): Promise<void>
}

const TAG_VARIABLE = 'STINT_MARK'
const TAIL_BYTES = 8 * 1024
const GUARDIAN_SLACK_MS = 15_000

interface GuardedSpawnOptions {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly wrap?: readonly string[] | undefined
}

export function spawnGuarded(
  command: string,
  args: readonly string[],
  { cwd, env, wrap = [] }: GuardedSpawnOptions,
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
  const tags = [env[TAG_VARIABLE], mark].filter(Boolean).join('.')
  const guardian = startGuardian(
    { mark, command: program, args: words, cwd, env: { ...env, [TAG_VARIABLE]: tags } },
    { [TAG_VARIABLE]: tags },
  )
  const { stdin, stdout, stderr } = guardian.child
  stdin!.on('error', () => undefined)
  const tail = new StderrTail(stderr!)
  const tag = { pid: guardian.pid, startedAt: processStartTime(guardian.pid), mark }
  const exited = waitForExit(guardian, tag)
  return {
    stdin: stdin!,
    lines: streamLines(stdout!),
    tag,
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

export async function describeExit(process: GuardedProcess, subject = 'it'): Promise<string> {
  const { code, signal } = await process.exited
  const outcome =
    signal === null ? `${subject} exited with ${code}` : `${subject} was ended by ${signal}`
  const last = process.stderrTail().trim().split('\n').slice(-5).join('\n')
  return shorten(oneLine(last === '' ? outcome : `${outcome}: ${last}`), 1000)
}

async function waitForExit(guardian: Guardian, tag: ProcessTag): Promise<ProcessExit> {
  const ended = await guardian.ended
  if (ended !== undefined) return { code: ended.code ?? null, signal: ended.signal ?? null }
  // The guardian itself was killed; the processes it guarded live on.
  await endOrphans(tag)
  return { code: null, signal: 'SIGKILL' }
}

class StderrTail {
  #bytes = Buffer.alloc(0)

  constructor(stream: Readable) {
    stream.on('error', () => undefined)
    stream.on('data', (chunk: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, chunk]).subarray(-TAIL_BYTES)
    })
  }

  get text(): string {
    return this.#bytes.toString('utf8')
  }
}

interface Guardian {
  readonly child: ChildProcess
  readonly pid: number
  end(grace: number): void
  readonly ended: Promise<GuardianReport | undefined>
}

/** `env` carries the tags of outer guardians, so that they find what we start. */
function startGuardian(request: GuardianRequest, env: NodeJS.ProcessEnv): Guardian {
  const child = spawn(process.execPath, ['-e', GUARDIAN], {
    // Node options meant for the agent must not reach the guardian.
    env,
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  })
  const gone = new Promise<void>((resolve) =>
    child.once('exit', () => resolve()).once('error', () => resolve()),
  )
  if (child.pid === undefined)
    throw new StintError(
      'PROCESS_NOT_STARTED',
      'no process can be started',
      'end some programs, or raise the limit of processes',
    )
  const line = child.stdio[3] as Socket
  // Writes to an exited guardian are lost; `ended` reports its exit.
  line.on('error', () => undefined)
  const report = readAll(line)
  line.write(`${JSON.stringify(request)}\n`)
  return {
    child,
    pid: child.pid,
    end: (grace) => void line.write(`${JSON.stringify({ grace })}\n`),
    ended: gone.then(() => report).then(parseReport),
  }
}

function readAll(line: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    line.setEncoding('utf8')
    line.on('data', (chunk: string) => (text += chunk))
    line.once('close', () => resolve(text))
  })
}

function parseReport(text: string): GuardianReport | undefined {
  // It was killed in the middle of its report.
  return text.endsWith('\n') ? (JSON.parse(text) as GuardianReport) : undefined
}

/** Sixteen random bytes, or a variable with an id. Anything shorter could fit processes of others. */
const TAG = /^(?:[0-9a-f]{32}|STINT_[A-Z]+=[0-9a-f]{8}-[0-9a-f-]{27})$/

export function isAlive({ pid, startedAt, mark }: ProcessTag): boolean {
  // A runner has no tag. A group or every process of the user is not one process.
  const isWellFormed = Number.isSafeInteger(pid) && pid > 0 && (mark === '' || TAG.test(mark))
  if (!isWellFormed || !/^\d*$/.test(startedAt)) return false
  // Only without /proc there is no time of start.
  if (startedAt === '') return processStartTime(process.pid) === '' && isPidRunning(pid)
  // After a reboot both numbers may repeat; the tag does not.
  return processStartTime(pid) === startedAt && environmentOf(pid).includes(mark)
}

/** Without readable environments this ends nothing: the guardian has already ended its group. */
export async function endOrphans({ mark }: ProcessTag, graceMs = 1000): Promise<number> {
  if (!TAG.test(mark)) return 0
  const ended = await startGuardian({ mark, grace: graceMs, spare: process.pid }, {}).ended
  return ended?.found ?? 0
}

export function processStartTime(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    // Fields 3 onwards follow the name; the start time is the 22nd.
    return fields[0] === 'Z' ? '' : (fields[19] ?? '')
  } catch {
    return ''
  }
}

function environmentOf(pid: number) {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1')
  } catch {
    // It ended meanwhile.
    return ''
  }
}

function isPidRunning(pid: number) {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    // No such process, or another user's.
    return false
  }
}

const MAX_LINE_BYTES = 64 * 1024 * 1024

/** Splits at LF only; of an overlong line only the start is kept, to limit memory. */
export async function* streamLines(
  bytes: AsyncIterable<Uint8Array>,
  maxLength = MAX_LINE_BYTES,
): AsyncGenerator<string> {
  let chunks: Uint8Array[] = []
  let length = 0
  const append = (chunk: Uint8Array) => {
    const added = chunk.subarray(0, maxLength - length)
    if (added.length > 0) chunks.push(added)
    length += added.length
  }
  const takeLine = () => {
    const line = Buffer.concat(chunks).toString('utf8')
    chunks = []
    length = 0
    return line
  }
  for await (const chunk of bytes) {
    let from = 0
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      append(chunk.subarray(from, at))
      from = at + 1
      yield takeLine()
    }
    append(chunk.subarray(from))
  }
  if (length > 0) yield takeLine()
}
