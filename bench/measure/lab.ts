import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'rolldown'
import { runGit } from '../../src/git/run-git.ts'
import { StintError } from '../../src/journal/errors.ts'
import { createFolderUnsynced, removeTree } from '../../src/journal/write-files.ts'
import { randomHex } from '../../src/journal/ids.ts'
import { Worker } from './worker-process.ts'

const DIST = join(import.meta.dirname, '..', '..', 'dist')

const GIT = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_AUTHOR_NAME: 'Stint',
  GIT_AUTHOR_EMAIL: 'stint@example.invalid',
  GIT_COMMITTER_NAME: 'Stint',
  GIT_COMMITTER_EMAIL: 'stint@example.invalid',
}

interface Surroundings {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly input?: string
}

interface Running {
  kill(): void
  gone(): Promise<void>
}

/** A temporary folder for all trials, isolated from the user's files and removed afterwards. */
export class Lab {
  readonly folder = join(tmpdir(), `stint-measure-${process.pid}-${randomHex(6)}`)
  readonly stint = join(DIST, 'stint.js')
  /** The library under trial. */
  readonly library: string
  readonly #running = new Set<Running>()
  readonly #signal: AbortSignal | undefined
  #stopped: unknown
  #worlds = 0

  private constructor(library: string, signal?: AbortSignal) {
    this.library = library
    this.#signal = signal
    createFolderUnsynced(join(this.folder, 'home'))
    // On any exit of this process except a kill.
    process.once('exit', this.#removeNow)
    signal?.addEventListener('abort', this.#interrupt)
    if (signal?.aborted === true) this.#interrupt()
  }

  static async open(signal?: AbortSignal, library = join(DIST, 'library.mjs')): Promise<Lab> {
    const lab = new Lab(library, signal)
    await build({
      input: join(import.meta.dirname, 'worker.ts'),
      platform: 'node',
      output: { file: lab.#workerProgram, codeSplitting: false },
      logLevel: 'silent',
    })
    return lab
  }

  get #workerProgram(): string {
    return join(this.folder, 'worker.mjs')
  }

  get env(): NodeJS.ProcessEnv {
    const { PATH, LANG, TMPDIR } = process.env
    const home = join(this.folder, 'home')
    const own = {
      HOME: home,
      STINT_STATE_HOME: join(home, 'state'),
      CLAUDE_CONFIG_DIR: join(home, 'claude'),
    }
    return { PATH, LANG, TMPDIR, ...own, ...GIT }
  }

  world(): string {
    this.#goOn()
    const root = join(this.folder, `world-${(this.#worlds += 1)}`)
    createFolderUnsynced(root)
    this.git(root, 'init', '--quiet', '--initial-branch=main', '--template=')
    return root
  }

  remove(root: string): void {
    removeTree(root)
  }

  git(root: string, ...args: readonly string[]): string {
    return runGit(root, args, { env: GIT })
  }

  /** A process for trials; `blocks` is its file size limit in blocks of the shell. */
  worker(blocks?: number): Worker {
    this.#goOn()
    const command: [string, ...string[]] = [
      process.execPath,
      this.#workerProgram,
      this.library,
      String(process.pid),
    ]
    const limited: [string, ...string[]] = [
      '/bin/sh',
      '-c',
      `ulimit -f ${blocks}; exec "$@"`,
      'sh',
      ...command,
    ]
    const worker = new Worker(blocks === undefined ? command : limited, this.env)
    this.#running.add(worker)
    return worker
  }

  /** Runs a program and returns its output. */
  async run(
    command: readonly [string, ...string[]],
    { cwd, env, input = '' }: Surroundings,
  ): Promise<string> {
    this.#goOn()
    const [program, ...args] = command
    const child = spawn(program, args, { cwd, env, detached: true, stdio: 'pipe' })
    const printed: Buffer[] = []
    const chunks: Buffer[] = []
    child.stdout.on('data', (bytes: Buffer) => printed.push(bytes))
    child.stderr.on('data', (bytes: Buffer) => chunks.push(bytes))
    child.stdin.on('error', () => undefined).end(input)
    const ended = new Promise<number | null>((resolve, reject) =>
      child.once('error', reject).once('close', resolve),
    )
    const running = {
      kill: () => void child.kill('SIGKILL'),
      gone: async () => {
        child.kill('SIGKILL')
        await ended
      },
    }
    this.#running.add(running)
    const code = await ended
    this.#running.delete(running)
    if (code === 0) return Buffer.concat(printed).toString('utf8')
    throw new Error(
      `${command.join(' ')} ended with ${code}: ${Buffer.concat(chunks).toString('utf8')}`,
    )
  }

  async end(worker: Worker): Promise<void> {
    await worker.gone()
    this.#running.delete(worker)
  }

  /** Runs jobs concurrently. If one fails, the others are stopped and awaited. */
  async atOnce(count: number, lane: (number: number) => Promise<void>): Promise<void> {
    await Promise.all(
      Array.from({ length: count }, async (_, number) => {
        try {
          await lane(number)
        } catch (error) {
          this.#stop(error)
        }
      }),
    )
    this.#goOn()
  }

  async close(): Promise<void> {
    this.#signal?.removeEventListener('abort', this.#interrupt)
    await Promise.all([...this.#running].map((running) => running.gone()))
    process.off('exit', this.#removeNow)
    removeTree(this.folder)
  }

  #goOn(): void {
    if (this.#stopped !== undefined) throw this.#stopped
  }

  /** Later failures are consequences of this one. */
  #stop(cause: unknown): void {
    this.#stopped ??= cause
    for (const running of this.#running) running.kill()
  }

  readonly #interrupt = () =>
    this.#stop(
      new StintError('INTERRUPTED', 'the measuring was interrupted; nothing was kept of it'),
    )

  readonly #removeNow = () => {
    for (const running of this.#running) running.kill()
    removeTree(this.folder)
  }
}
