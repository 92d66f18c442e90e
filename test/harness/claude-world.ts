import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { type RawEntry, effectiveEntries } from '../../src/session/effective-entries.ts'
import { readLog } from '../../src/journal/read-log.ts'
import { type ClaudeVersion, claudeProgram } from './install.ts'
import { ModelStub } from './model-stub.ts'

/** The built programs. */
const dist = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), 'dist')

export interface Turned {
  readonly session_id: string
  readonly result: string
  readonly is_error: boolean
  readonly subtype: string
  readonly total_cost_usd: number
  readonly modelUsage: Readonly<Record<string, { readonly contextWindow: number }>>
}

/**
 * A project with the real Claude Code, in its own home folder, talking to a model on loopback. No
 * file of the user who runs the tests is read or written.
 */
export class ClaudeWorld {
  readonly root = mkdtempSync(join(tmpdir(), 'cw-'))
  readonly project = join(this.root, 'p')
  readonly stub = new ModelStub()
  readonly env: Record<string, string>
  readonly #running = new Set<ChildProcess>()

  private constructor(readonly version: ClaudeVersion) {
    for (const name of ['p', 'home', 't', 'bin', 'cfg']) mkdirSync(join(this.root, name))
    const stint = join(this.root, 'bin', 'stint')
    writeFileSync(stint, `#!/bin/sh\nexec "${process.execPath}" "${join(dist, 'stint.js')}" "$@"\n`)
    chmodSync(stint, 0o755)
    this.env = {
      PATH: `${join(this.root, 'bin')}:${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
      HOME: join(this.root, 'home'),
      CLAUDE_CONFIG_DIR: join(this.root, 'cfg'),
      TMPDIR: join(this.root, 't'),
      CLAUDE_CODE_TMPDIR: join(this.root, 't'),
      XDG_RUNTIME_DIR: join(this.root, 't'),
      LANG: 'C.UTF-8',
      SHELL: '/bin/bash',
      TERM: 'xterm-256color',
      GIT_CONFIG_GLOBAL: join(this.root, 'gitconfig'),
      GIT_CONFIG_SYSTEM: '/dev/null',
      ANTHROPIC_API_KEY: 'dummy',
      DISABLE_TELEMETRY: '1',
      DISABLE_ERROR_REPORTING: '1',
      DISABLE_AUTOUPDATER: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      IS_SANDBOX: '1',
    }
    writeFileSync(
      this.env.GIT_CONFIG_GLOBAL!,
      '[user]\n\tname = Test\n\temail = test@example.invalid\n[init]\n\tdefaultBranch = main\n',
    )
    this.git('init', '-q')
    writeFileSync(join(this.project, 'readme.txt'), 'a project\n')
    this.git('add', '.')
    this.git('commit', '-qm', 'start')
  }

  /**
   * With Stint set up as a user does it; the MCP server, which is slow to start, only on request.
   * Removed with the test.
   */
  static async create(
    version: ClaudeVersion,
    options: { setup?: boolean; mcp?: boolean } = {},
  ): Promise<ClaudeWorld> {
    const world = new ClaudeWorld(version)
    await world.stub.start()
    world.env.ANTHROPIC_BASE_URL = world.stub.url
    onTestFinished(() => world.remove())
    if (options.setup !== false)
      world.stint('setup', 'claude', ...(options.mcp === true ? [] : ['--no-mcp']))
    return world
  }

  git(...args: readonly string[]): string {
    return execFileSync('git', args, { cwd: this.project, env: this.env, encoding: 'utf8' })
  }

  stint(...args: readonly string[]): string {
    return execFileSync(join(this.root, 'bin', 'stint'), args, {
      cwd: this.project,
      env: this.env,
      encoding: 'utf8',
    })
  }

  path(...parts: readonly string[]): string {
    return join(this.project, ...parts)
  }

  /** One prompt in its own process. */
  async ask(prompt: string, ...args: readonly string[]): Promise<Turned> {
    const child = this.#start(['-p', prompt, '--output-format', 'json', ...args], 'ignore')
    const output = await outputOf(child)
    const line = output.split('\n').findLast((candidate) => candidate.startsWith('{'))
    if (line === undefined) throw new Error(`claude said no result:\n${output}`)
    return JSON.parse(line) as Turned
  }

  /** A conversation in one process. */
  talk(...args: readonly string[]): Talk {
    const child = this.#start(
      [
        '-p',
        '--input-format',
        'stream-json',
        '--output-format',
        'stream-json',
        '--verbose',
        ...args,
      ],
      'pipe',
    )
    return new Talk(child)
  }

  #start(args: readonly string[], stdin: 'ignore' | 'pipe'): ChildProcess {
    const child = spawn(claudeProgram(this.version), ['--dangerously-skip-permissions', ...args], {
      cwd: this.project,
      env: this.env,
      stdio: [stdin, 'pipe', 'pipe'],
      detached: true,
    })
    this.#running.add(child)
    child.once('close', () => this.#running.delete(child))
    return child
  }

  get program(): string {
    return claudeProgram(this.version)
  }

  /** The ids of the sessions of the project, oldest first. */
  get sessions(): readonly string[] {
    const folder = this.path('.sessions', 'journal')
    return existsSync(folder) ? readdirSync(folder).toSorted() : []
  }

  /** The journal of a session: the only one, unless an id is given. */
  entries(session = this.sessions[0]): readonly RawEntry[] {
    if (session === undefined) return []
    return readLog(this.path('.sessions', 'journal', session, 'log.jsonl')).records
  }

  ofKind(kind: string, session?: string): readonly RawEntry['data'][] {
    return effectiveEntries(this.entries(session))
      .filter((entry) => entry.kind === kind)
      .map(({ data }) => data)
  }

  /** The output of `stint view --json`. */
  state(
    name?: string,
  ): { readonly compactions: number; readonly name: string } & Record<string, unknown> {
    return JSON.parse(this.stint('view', ...(name === undefined ? [] : [name]), '--json')) as never
  }

  transcriptPath(conversation: string): string {
    const projects = join(this.root, 'cfg', 'projects')
    const files = readdirSync(projects, { recursive: true, encoding: 'utf8' })
    return join(
      projects,
      files.find((name) => name.endsWith(`${conversation}.jsonl`))!,
    )
  }

  /** The transcript that the harness wrote. */
  transcript(conversation: string): readonly Record<string, unknown>[] {
    const text = readFileSync(this.transcriptPath(conversation), 'utf8')
    return text
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Record<string, unknown>]))
  }

  /** The errors that hooks recorded. */
  get troubles(): string {
    const file = this.path('.git', 'stint', 'conversations', 'troubles.jsonl')
    return existsSync(file) ? readFileSync(file, 'utf8') : ''
  }

  private async remove(): Promise<void> {
    for (const child of this.#running) if (child.pid !== undefined) killGroup(child.pid)
    await this.stub.stop()
    await removeFolder(this.root)
  }
}

type Message = { readonly type: string; readonly subtype?: string } & Record<string, unknown>

/** One process that reads prompts from standard input, one after the other. */
export class Talk {
  readonly messages: Message[] = []
  readonly #child: ChildProcess
  readonly #waiting: ((turned: Turned) => void)[] = []
  #errors = ''

  constructor(child: ChildProcess) {
    this.#child = child
    // Every prompt adds a listener for its end.
    child.setMaxListeners(0)
    child.stderr!.on('data', (chunk: Buffer) => (this.#errors += chunk.toString()))
    createInterface({ input: child.stdout! }).on('line', (line) => {
      const message = JSON.parse(line) as Message
      this.messages.push(message)
      if (message.type === 'result') this.#waiting.shift()?.(message as unknown as Turned)
    })
  }

  get pid(): number {
    return this.#child.pid!
  }

  say(prompt: string): Promise<Turned> {
    const turned = new Promise<Turned>((resolve, reject) => {
      this.#waiting.push(resolve)
      this.#child.once('close', () =>
        reject(new Error(`claude ended before it answered "${prompt}"\n${this.#errors}`)),
      )
    })
    this.#child.stdin!.write(
      `${JSON.stringify({ type: 'user', message: { role: 'user', content: prompt } })}\n`,
    )
    return turned
  }

  /** Resolves when a matching message arrives. */
  async until(fits: (message: Message) => boolean): Promise<void> {
    while (!this.messages.some(fits)) await new Promise((resolve) => setTimeout(resolve, 20))
  }

  async end(): Promise<void> {
    const closed = new Promise((resolve) => this.#child.once('close', resolve))
    this.#child.stdin!.end()
    await closed
  }

  async kill(): Promise<void> {
    const closed = new Promise((resolve) => this.#child.once('close', resolve))
    this.#child.kill('SIGKILL')
    await closed
  }
}

function outputOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let output = ''
    for (const stream of [child.stdout!, child.stderr!])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.once('close', () => resolve(output))
  })
}

/** An ended process may still be writing its last lines. */
async function removeFolder(path: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return rmSync(path, { recursive: true, force: true })
    } catch (error) {
      if (attempt === 50) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

/** The process and everything it started: a killed agent leaves its commands running. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It ended meanwhile.
  }
}
