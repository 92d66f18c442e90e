// `stint run`, as a person starts it, with the real Claude Code and a scripted agent in the place of its model.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdirSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished } from 'vitest'
import { readLog } from '../../src/journal/read.ts'
import type { RunEvent } from '../../src/run/events.ts'
import { carriersOf } from '../support/processes.ts'
import { answerAs } from './claude-agent.ts'
import { ClaudeWorld, dist } from './claude-world.ts'
import { type ScriptedAgent } from './scripted-agent.ts'

type Of<T extends RunEvent['type']> = Extract<RunEvent, { type: T }>

export class RunWorld {
  readonly events: RunEvent[] = []
  /** What was printed besides events. */
  errors = ''

  private constructor(readonly claude: ClaudeWorld) {}

  static async create(
    agent: ScriptedAgent,
    options: { readonly setup?: boolean; readonly config?: string } = {},
  ): Promise<RunWorld> {
    const claude = await ClaudeWorld.create('2.1.325', { setup: options.setup === true })
    claude.env.STINT_CLAUDE = claude.program
    claude.env.CLAUDE_CODE_AUTO_COMPACT_WINDOW = '200000'
    answerAs(claude.stub, agent)
    mkdirSync(claude.path('.sessions'), { recursive: true })
    if (options.config !== undefined) writeFileSync(claude.path('.sessions', 'config.yaml'), options.config)
    return new RunWorld(claude)
  }

  commit(message: string, files: Readonly<Record<string, string>>): void {
    for (const [name, text] of Object.entries(files)) writeFileSync(this.claude.path(name), text)
    this.claude.git('add', '--all')
    this.claude.git('commit', '--quiet', '--message', message)
  }

  /** Small tasks, to be done in this order; answers their ids. One process adds them all. */
  tasks(titles: readonly string[]): readonly string[] {
    const library = pathToFileURL(join(dist, 'library.js')).href
    const program = `import { openProject } from ${JSON.stringify(library)}
      const project = openProject(process.cwd())
      const ids = []
      for (const title of ${JSON.stringify(titles)}) ids.push((await project.tasks.add({ title, size: 'S' })).id)
      project.dispose()
      console.log(JSON.stringify(ids))`
    const { project: cwd, env } = this.claude
    const output = execFileSync(process.execPath, ['--input-type=module', '--eval', program], { cwd, env, encoding: 'utf8' })
    return JSON.parse(output) as readonly string[]
  }

  /** Until it ends; each event is told as it comes, with the process that told it. */
  async run(
    args: readonly string[],
    seen: (event: RunEvent, runner: ChildProcess) => void = () => undefined,
  ): Promise<number | null> {
    const runner = spawn(join(this.claude.root, 'bin', 'stint'), ['run', '--json', ...args], {
      cwd: this.claude.project,
      env: this.claude.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    onTestFinished(() => void runner.kill('SIGKILL'))
    const exited = new Promise<number | null>((resolve) => runner.once('exit', (code) => resolve(code)))
    runner.stderr.on('data', (chunk: Buffer) => (this.errors += chunk.toString()))
    for await (const line of createInterface({ input: runner.stdout })) {
      const event = JSON.parse(line) as RunEvent
      this.events.push(event)
      seen(event, runner)
    }
    return exited
  }

  of<T extends RunEvent['type']>(type: T): readonly Of<T>[] {
    return this.events.filter((event): event is Of<T> => event.type === type)
  }

  get id(): string {
    return this.of('run.started')[0]!.run
  }

  /** Claude Code itself as this run has started it, without what it started in turn. */
  agents(): readonly number[] {
    return carriersOf(`STINT_RUN=${this.id}`).filter((pid) => programOf(pid) === this.claude.program)
  }

  /** Of a kind in the journals of all sessions, oldest first. */
  journalled(kind: string): readonly Readonly<Record<string, unknown>>[] {
    return this.claude.sessions.flatMap((session) => this.claude.ofKind(kind, session))
  }

  logged(kind: string): readonly Readonly<Record<string, unknown>>[] {
    const { records } = readLog(this.claude.path('.sessions', 'runs', this.id, 'log.jsonl'))
    return records.filter((record) => record.kind === kind).map(({ data }) => data as Readonly<Record<string, unknown>>)
  }

  subjects(branch: string): readonly string[] {
    return this.claude.git('log', '--reverse', '--format=%s', `main..${branch}`).trim().split('\n')
  }

  expectEnded(how: string): void {
    expect(this.events.at(-1), this.errors).toMatchObject({ type: 'run.ended', how })
  }
}

function programOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/exe`)
  } catch {
    // It ended meanwhile.
    return ''
  }
}
