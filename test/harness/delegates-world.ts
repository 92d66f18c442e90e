// `stint delegate`, `stint delegates` and `stint merge` as a user runs them, with the real Claude
// Code and a scripted agent in place of its model.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import type { DelegateDetail, DelegateRow } from '../../src/run/delegate/delegate-row.ts'
import { findStintProgram } from '../../src/harness/process/find-program.ts'
import { readLog } from '../../src/journal/read-log.ts'
import { effectiveEntries } from '../../src/session/effective-entries.ts'
import { carriersOf, commandOf, expectNoneLeft } from '../support/processes.ts'
import type { ClaudeWorld } from './claude-world.ts'
import { claudeWith } from './run-world.ts'
import type { ScriptedAgent } from './scripted-agent.ts'
import { StartedRun } from './started-run.ts'

type Data = Readonly<Record<string, unknown>>

export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly errors: string
}

export class DelegatesWorld extends StartedRun {
  private constructor(readonly claude: ClaudeWorld) {
    super(claude.project, claude.env)
  }

  /**
   * With a session that the delegates work for. Agents find no other `stint` than the one given to
   * them.
   */
  static async create(
    agent: ScriptedAgent,
    options: { readonly setup?: boolean; readonly config?: string } = {},
  ): Promise<DelegatesWorld> {
    const claude = await claudeWith(agent, options)
    const own = `${join(claude.root, 'bin')}:`
    if (options.setup !== true) claude.env.PATH = claude.env.PATH!.replace(own, '')
    const world = new DelegatesWorld(claude)
    onTestFinished(() => world.#endAll())
    if (options.config !== undefined) world.write('.sessions/config.yaml', options.config)
    world.stint('init', '--name', 'parser', '--goal', 'A parser of dates')
    return world
  }

  /**
   * Runs a command that may take as long as agents do: the model is in this process and has to
   * answer them.
   */
  async command(...args: readonly string[]): Promise<Ended> {
    const child = spawn(process.execPath, [findStintProgram(), ...args], {
      cwd: this.project,
      env: this.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let out = ''
    let errors = ''
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
    return { code, out, errors }
  }

  /** The output of a command that succeeds. */
  async answer<T>(...args: readonly string[]): Promise<T> {
    const { code, out, errors } = await this.command(...args, '--json')
    expect(code, `stint ${args.join(' ')}\n${out}\n${errors}`).toBe(0)
    return JSON.parse(out) as T
  }

  delegate(what: string, ...args: readonly string[]): Promise<DelegateRow> {
    return this.answer('delegate', what, '--harness', 'claude', ...args)
  }

  show(name: string): Promise<DelegateDetail> {
    return this.answer('delegate', 'show', name)
  }

  /** Waits until it has the expected status. */
  async waited(name: string, status: string): Promise<DelegateDetail> {
    await this.command('delegate', 'wait', name)
    const detail = await this.show(name)
    expect(detail.status, JSON.stringify(detail.move)).toBe(status)
    return detail
  }

  /** The run-log entries of a kind of a delegate. */
  steps({ id }: Pick<DelegateRow, 'id'>, kind: string): readonly Data[] {
    return readLog(join(this.project, '.sessions', 'runs', id, 'log.jsonl'))
      .records.filter((record) => record.kind === kind)
      .map(({ data }) => data)
  }

  /** The journal entries of a kind of a session. */
  entriesOf(session: string, kind: string): readonly Data[] {
    return effectiveEntries(
      readLog(join(this.project, '.sessions', 'journal', session, 'log.jsonl')).records,
    )
      .filter((entry) => entry.kind === kind)
      .map(({ data }) => data)
  }

  /** The background process. */
  processOf(row: Pick<DelegateRow, 'id'>): number {
    return (this.steps(row, 'run.resumed').at(-1)!.runner as { pid: number }).pid
  }

  /** The guardian of its agent. */
  guardianOf(row: Pick<DelegateRow, 'id'>): number {
    return (this.steps(row, 'conversation.opened').at(-1)!.process as { pid: number }).pid
  }

  /** Resolves when the agent of a delegate has a command running. */
  async whenDelegateRuns({ id }: Pick<DelegateRow, 'id'>, command: string): Promise<void> {
    await expect
      .poll(() => carriersOf(`STINT_RUN=${id}`).map(commandOf), { interval: 50 })
      .toContain(command)
  }

  /**
   * No process of a delegate: neither its own nor its agent, none of the agent's commands, no
   * guardian.
   */
  async expectNothingLeft(row: Pick<DelegateRow, 'id'>): Promise<void> {
    for (const { process } of this.steps(row, 'conversation.opened'))
      await expectNoneLeft((process as { mark: string }).mark)
    await expectNoneLeft(`STINT_RUN=${row.id}`)
    await expectNoneLeft(this.#mark)
  }

  get #mark(): string {
    return `CLAUDE_CONFIG_DIR=${this.env.CLAUDE_CONFIG_DIR}`
  }

  /** When a test fails, the delegates would keep running. */
  #endAll(): void {
    for (const pid of carriersOf(this.#mark)) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // It ended meanwhile.
      }
    }
  }
}
