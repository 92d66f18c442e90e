// Delegates as the user runs them: the real program, real background processes, real git. Only the model is a script.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import type { DelegateRow } from '../../src/run/delegate/delegate-row.ts'
import {
  type DelegateState,
  findDelegate,
  readDelegates,
} from '../../src/run/delegate/delegates.ts'
import { readLog } from '../../src/journal/read-log.ts'
import { Workspace } from '../../src/project/store/workspace.ts'
import { program, terminal } from '../support/cli.ts'
import { expectNoneLeft } from '../support/processes.ts'
import type { MergeOutcome } from '../../src/run/entries.ts'
import { agreeTo, needsAgreement } from '../support/trust.ts'

export type Acts = readonly Readonly<Record<string, unknown>>[]

export interface Ended {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export class BackgroundWorld {
  readonly #terminal = terminal()
  readonly cwd = this.#terminal.cwd
  readonly env = this.#terminal.env
  readonly folder = this.#terminal.folder
  readonly git = this.#terminal.git
  readonly program = program
  /** Runs the command line in this process, which is faster. */
  readonly inProcess = this.#terminal.stint

  constructor() {
    this.git('config', 'user.name', 'Test')
    this.git('config', 'user.email', 'test@example.invalid')
    onTestFinished(async () => {
      await this.inProcess('delegate', 'stop')
      await this.expectNoProcess()
    })
  }

  async expectNoProcess(): Promise<void> {
    await expectNoneLeft(`STINT_STATE_HOME=${this.env['STINT_STATE_HOME']}`)
  }

  write(path: string, text: string): void {
    writeFileSync(join(this.cwd, path), text)
    if (needsAgreement(path)) agreeTo(this.cwd, this.env)
  }

  read(path: string): string {
    return readFileSync(join(this.cwd, path), 'utf8')
  }

  commit(message: string, files: Readonly<Record<string, string>>): string {
    for (const [path, text] of Object.entries(files)) this.write(path, text)
    this.git('add', '--', ...Object.keys(files))
    this.git('commit', '--quiet', '-m', message)
    return this.commitOf('HEAD')
  }

  commitOf(name: string): string {
    return this.git('rev-parse', '--verify', `${name}^{commit}`).trim()
  }

  lines(...args: readonly string[]): readonly string[] {
    return this.git(...args)
      .split('\n')
      .filter((line) => line !== '')
  }

  /** The agents' script, by task name, with a default. */
  script(tasks: Readonly<Record<string, readonly Acts[]>>, otherwise?: readonly Acts[]): string {
    const path = join(this.folder, 'script.json')
    writeFileSync(
      path,
      JSON.stringify({ tasks, ...(otherwise === undefined ? {} : { default: otherwise }) }),
    )
    return path
  }

  /** Runs one of our programs in its own process. */
  async run(file: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
    const child = spawn(process.execPath, [file, ...args], {
      cwd: this.cwd,
      env: { ...this.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    return new Promise((resolve) => {
      child.once('close', (exitCode, signal) => resolve({ exitCode, signal, stdout, stderr }))
    })
  }

  /** Runs a command as the user types it. */
  stint(...args: readonly string[]): Promise<Ended> {
    return this.run(program, args)
  }

  /** The same, parsed as JSON. Fails unless it succeeds. */
  async json<T>(...args: readonly string[]): Promise<T> {
    const ran = await this.stint(...args, '--json')
    if (ran.exitCode !== 0)
      throw new Error(`${args.join(' ')} exits with ${ran.exitCode}: ${ran.stdout}${ran.stderr}`)
    return JSON.parse(ran.stdout) as T
  }

  /** Started, and running in the background. */
  begin(script: string, ...args: readonly string[]): Promise<DelegateRow> {
    return this.json<DelegateRow>('delegate', ...args, '--harness', 'rehearsal', '--script', script)
  }

  async rows(): Promise<Readonly<Record<string, DelegateRow>>> {
    return Object.fromEntries(
      (await this.json<readonly DelegateRow[]>('delegates', '--all')).map((row) => [row.name, row]),
    )
  }

  async outcomes(...args: readonly string[]): Promise<Readonly<Record<string, MergeOutcome>>> {
    const { stdout } = await this.stint('merge', ...args, '--json')
    const { outcomes } = JSON.parse(stdout) as { readonly outcomes: readonly MergeOutcome[] }
    return Object.fromEntries(outcomes.map((outcome) => [outcome.name, outcome]))
  }

  readonly #place = new Workspace(this.cwd, { env: this.env }).paths

  /** As recorded in its log, without reconciling anything. */
  state(name: string): DelegateState {
    return findDelegate(this.#place, name)
  }

  states(): readonly DelegateState[] {
    return readDelegates(this.#place)
  }

  /** A file in the delegate's worktree, by which its agent shows its progress. */
  async untilWritten({ tree }: Pick<DelegateRow, 'tree'>, path: string): Promise<void> {
    await expect.poll(() => existsSync(join(tree, path))).toBe(true)
  }

  /** Everything in the journals of all sessions, of one kind. */
  journalled(kind: string): readonly Readonly<Record<string, unknown>>[] {
    const folder = join(this.cwd, '.sessions', 'journal')
    return (existsSync(folder) ? readdirSync(folder) : [])
      .map((id) => join(folder, id, 'log.jsonl'))
      .filter((path) => existsSync(path))
      .flatMap(
        (path) =>
          readLog(path).records as readonly {
            kind: string
            data: Readonly<Record<string, unknown>>
          }[],
      )
      .filter((entry) => entry.kind === kind)
      .map(({ data }) => data)
  }
}
