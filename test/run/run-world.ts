// A project with a backlog, worked through by the rehearsal agent: real processes, real git, and a script in place of a model.
import { existsSync } from 'node:fs'
import { onTestFinished } from 'vitest'
import { runIds } from '../../src/project/store/run-files.ts'
import { Workspace } from '../../src/project/store/workspace.ts'
import type { RunEvent, RunEventKind, RunReport } from '../../src/run/entries.ts'
import { attemptsThat, eventsOf } from '../support/run-events.ts'
import { readRun } from '../../src/run/run-log.ts'
import { type RunHandle, type StartOptions, startRun } from '../../src/run/loop/start-run.ts'
import type { NewTask } from '../../src/project/tasks/project-backlog.ts'
import type { Task } from '../../src/backlog/task.ts'
import { readLog } from '../../src/journal/read-log.ts'
import { carriersOf, expectNoneLeft } from '../support/processes.ts'
import { World, gitProject } from '../support/project.ts'
import { copyRepository, scratchFolder } from '../support/scratch.ts'
import { serveScriptedAgent } from '../support/scripted-agent.ts'

type Act = Readonly<Record<string, unknown>>

/** What a script does in each turn of a task. */
export type Script = Readonly<Record<string, readonly (readonly Act[])[]>>

export class RunWorld {
  readonly project: World = runProject()
  readonly events: RunEvent[] = []
  onEvent: (event: RunEvent) => void = () => {}
  #gates = 0

  /** `process` starts the agent's program, for tests about processes. */
  constructor({ agent = 'here' }: { readonly agent?: 'here' | 'process' } = {}) {
    if (agent === 'here') serveScriptedAgent()
  }

  /** Tasks by title; each waits for those it names. */
  async tasks(...tasks: readonly (string | NewTask)[]): Promise<readonly Task[]> {
    const added: Task[] = []
    for (const task of tasks) {
      added.push(
        await this.project.run((project) =>
          project.tasks.add(
            typeof task === 'string' ? { title: task, size: 'S' } : { size: 'S', ...task },
          ),
        ),
      )
    }
    return added
  }

  config(text: string): void {
    this.project.write('.sessions/config.yaml', text)
  }

  /** A script outside of the repository. */
  script(tasks: Script, more: Readonly<Record<string, unknown>> = {}): string {
    this.project.write('.sessions/script.json', JSON.stringify({ tasks, ...more }))
    return this.project.path('.sessions', 'script.json')
  }

  /** An act that ends once the runner has handled every event before it. */
  untilHandled(): Act {
    this.#gates += 1
    return { run: `until [ -e ${this.#gate(this.#gates)} ]; do sleep 0.02; done` }
  }

  async start(options: StartOptions = {}): Promise<RunHandle> {
    const workspace = new Workspace(this.project.root, {
      say: (line) => this.project.messages.push(line),
      env: process.env,
    })
    onTestFinished(() => workspace.close())
    return startRun(workspace, { harness: 'rehearsal', ...options }, (event) => {
      this.events.push(event)
      this.#openGate(event)
      this.onEvent(event)
    })
  }

  /** Events are handled in order, so the start of a waiting command follows everything before it. */
  #openGate({ kind, data }: RunEvent): void {
    const command = kind === 'tool' && data.status === 'started' ? data.command : undefined
    for (let number = 1; number <= this.#gates; number += 1)
      if (command?.includes(this.#gate(number)) === true)
        this.project.write(`.sessions/gate-${number}.open`, '')
  }

  #gate(number: number): string {
    return this.project.path('.sessions', `gate-${number}.open`)
  }

  async run(options: StartOptions = {}): Promise<RunReport> {
    const handle = await this.start(options)
    const report = await handle.ended
    await expectNoneLeft(`STINT_RUN=${report.run || 'none'}`)
    return report
  }

  of<K extends RunEventKind>(kind: K) {
    return eventsOf(this.events, kind)
  }

  /** The attempts that failed. */
  failed() {
    return attemptsThat(this.events, 'failed')
  }

  /** The outcome of each task, by name. */
  async statuses(): Promise<Readonly<Record<string, string>>> {
    const { tasks } = await this.project.run((project) => project.tasks.list())
    return Object.fromEntries(tasks.map(({ shortname, status }) => [shortname, status]))
  }

  /** Everything in the journals of all sessions, by kind. */
  journalled(
    kind: string,
  ): readonly { readonly id: string; readonly data: Readonly<Record<string, unknown>> }[] {
    return this.project
      .names('.sessions', 'journal')
      .map((id) => this.project.path('.sessions', 'journal', id, 'log.jsonl'))
      .filter((path) => existsSync(path))
      .flatMap((path) => readLog(path).records)
      .filter((record) => record.kind === kind)
  }

  /** How often a task was closed. */
  closings(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {}
    for (const { data } of this.journalled('task.moved')) {
      if (data['status'] === 'completed')
        counts[String(data['task'])] = (counts[String(data['task'])] ?? 0) + 1
    }
    return counts
  }

  logged(kind: string) {
    const [run] = this.runs().slice(-1)
    return readRun(this.#place(), run!).filter((entry) => entry.kind === kind)
  }

  runs(): readonly string[] {
    return runIds(this.#place())
  }

  branch(): string {
    return String((this.logged('run.started')[0]!.data as { branch: string }).branch)
  }

  subjects(branch = this.branch()): readonly string[] {
    return this.project
      .git('log', '--reverse', '--format=%s', `main..${branch}`)
      .split('\n')
      .filter((line) => line !== '')
  }

  carriers(run: string): readonly number[] {
    return carriersOf(`STINT_RUN=${run}`)
  }

  #place() {
    return new Workspace(this.project.root).paths
  }
}

function runProject(): World {
  const root = scratchFolder()
  copyRepository(root, 'run', (folder) => {
    gitProject(folder).commit('start', { 'a.txt': 'a\n' })
  })
  return new World(root)
}

/** The turns of an agent that completes its task. */
export function doing(name: string, usage = 4000): readonly Act[] {
  return [
    { write: { path: `${name}.txt`, text: `${name}\n` } },
    { commit: `do ${name}` },
    { usage },
    { done: `${name} is written` },
  ]
}
