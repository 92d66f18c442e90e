// `stint run`, started in a project as a user does it, and its results.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished } from 'vitest'
import { findStintProgram } from '../../src/harness/process/find-program.ts'
import { readLog } from '../../src/journal/read-log.ts'
import type { RunEvent, RunEventKind } from '../../src/run/entries.ts'
import { attemptsThat, eventsOf } from '../support/run-events.ts'
import { effectiveEntries } from '../../src/session/effective-entries.ts'
import { carriersOf, commandOf } from '../support/processes.ts'
import { agreeTo, needsAgreement } from '../support/trust.ts'

type Data = Readonly<Record<string, unknown>>

export class StartedRun {
  readonly events: RunEvent[] = []
  /** The output besides events. */
  errors = ''

  constructor(
    readonly project: string,
    readonly env: Readonly<Record<string, string>>,
  ) {}

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.project, path)), { recursive: true })
    writeFileSync(join(this.project, path), text)
    if (needsAgreement(path)) agreeTo(this.project, this.env)
  }

  git(...args: readonly string[]): string {
    return execFileSync('git', args, { cwd: this.project, env: this.env, encoding: 'utf8' })
  }

  stint(...args: readonly string[]): string {
    return this.#node(findStintProgram(), ...args)
  }

  commit(message: string, files: Readonly<Record<string, string>>): void {
    for (const [path, text] of Object.entries(files)) this.write(path, text)
    this.git('add', '--all')
    this.git('commit', '--quiet', '--message', message)
  }

  /** Adds small tasks in this order and returns their ids. One process adds them all. */
  tasks(titles: readonly string[]): readonly string[] {
    const library = pathToFileURL(join(dirname(findStintProgram()), 'library.mjs')).href
    const program = `import { openProject } from ${JSON.stringify(library)}
      const project = openProject(process.cwd())
      const ids = []
      for (const title of ${JSON.stringify(titles)}) ids.push((await project.tasks.add({ title, size: 'S' })).id)
      project.dispose()
      console.log(JSON.stringify(ids))`
    return JSON.parse(this.#node('--input-type=module', '--eval', program)) as readonly string[]
  }

  /** Resolves at its end; each event is passed on with the process that emitted it. */
  async run(
    args: readonly string[],
    seen: (event: RunEvent, runner: ChildProcess) => void = () => undefined,
  ): Promise<number | null> {
    const runner = spawn(process.execPath, [findStintProgram(), 'run', '--json', ...args], {
      cwd: this.project,
      env: this.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    onTestFinished(() => void runner.kill('SIGKILL'))
    const exited = new Promise<number | null>((resolve) =>
      runner.once('exit', (code) => resolve(code)),
    )
    runner.stderr.on('data', (chunk: Buffer) => (this.errors += chunk.toString()))
    for await (const line of createInterface({ input: runner.stdout })) {
      const event = JSON.parse(line) as RunEvent
      this.events.push(event)
      seen(event, runner)
    }
    return exited
  }

  of<K extends RunEventKind>(kind: K) {
    return eventsOf(this.events, kind)
  }

  /** The failed attempts. */
  failed() {
    return attemptsThat(this.events, 'failed')
  }

  get id(): string {
    const [started] = this.of('run.planned')
    expect(started, this.errors).toBeDefined()
    return started!.run
  }

  /**
   * Resolves when an agent of the run has a command running. Its start is reported before there is
   * a process.
   */
  async whenRuns(command: string): Promise<void> {
    const isRunning = () =>
      carriersOf(`STINT_RUN=${this.id}`).some((pid) => commandOf(pid) === command)
    while (!isRunning()) await new Promise((resolve) => setTimeout(resolve, 20))
  }

  /** Journal entries of a kind in all sessions, oldest first. */
  journalled(kind: string): readonly Data[] {
    const folder = join(this.project, '.sessions', 'journal')
    return readdirSync(folder)
      .toSorted()
      .flatMap((session) => effectiveEntries(readLog(join(folder, session, 'log.jsonl')).records))
      .filter((entry) => entry.kind === kind)
      .map(({ data }) => data)
  }

  /** Entries of a kind in the run log. */
  logged(kind: string): readonly Data[] {
    const { records } = readLog(join(this.project, '.sessions', 'runs', this.id, 'log.jsonl'))
    return records.filter((record) => record.kind === kind).map(({ data }) => data)
  }

  /** How often each task was closed, by id. */
  closings(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {}
    for (const { task, status } of this.journalled('task.moved'))
      if (status === 'completed') counts[String(task)] = (counts[String(task)] ?? 0) + 1
    return counts
  }

  subjects(branch: string): readonly string[] {
    return this.git('log', '--reverse', '--format=%s', `main..${branch}`).trim().split('\n')
  }

  /** The problems that doctor reports, without those of the machine. */
  diagnosed(): readonly unknown[] {
    const { checks } = JSON.parse(this.stint('doctor', '--json')) as {
      checks: readonly { check: string; status: string }[]
    }
    return checks.filter(
      ({ check, status }) =>
        status !== 'ok' && !/^(?:file system|free space|versions)$/.test(check),
    )
  }

  /** The user's own checkout, except for the task files, which belong to Stint. */
  checkout(): readonly string[] {
    return [
      this.git('rev-parse', 'HEAD'),
      this.git('status', '--porcelain', '--', ':!.tasks'),
      this.git('diff'),
    ]
  }

  expectEnded(how: string): void {
    expect(this.events.at(-1), this.errors).toMatchObject({ kind: 'run.report', data: { how } })
  }

  #node(...args: readonly string[]): string {
    return execFileSync(process.execPath, args, {
      cwd: this.project,
      env: this.env,
      encoding: 'utf8',
    })
  }
}
