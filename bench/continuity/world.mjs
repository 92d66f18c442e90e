// A scratch home and repository for the real agent. Nothing of the user's own is read or written.
import { execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
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
import { Conversation, pause } from './conversation.mjs'

const SETTLE_MS = 6_000
const TALK = `-p --input-format stream-json --output-format stream-json --verbose
  --include-hook-events --dangerously-skip-permissions`.split(/\s+/)
/** Questions to the user arrive as control requests; a headless agent cannot ask otherwise. */
const ASK = ['--permission-prompt-tool', 'stdio']

export class World {
  #base = mkdtempSync(join(tmpdir(), 'ct-'))
  // Always the same path, so that a restored copy holds for tools that keep absolute paths.
  root = join(this.#base, 'w')
  project = join(this.root, 'p')
  home = join(this.root, 'home')
  bin = join(this.root, 'bin')
  config = join(this.root, 'cfg')
  #program
  #model
  #toolEnv = {}
  #toolArgs = []
  #children = new Set()

  constructor(program, model) {
    this.#program = program
    this.#model = model
  }

  get env() {
    const temporary = join(this.root, 't')
    return {
      PATH: `${this.bin}:${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
      HOME: this.home,
      CLAUDE_CONFIG_DIR: this.config,
      TMPDIR: temporary,
      CLAUDE_CODE_TMPDIR: temporary,
      XDG_RUNTIME_DIR: temporary,
      LANG: 'C.UTF-8',
      SHELL: '/bin/bash',
      TERM: 'xterm-256color',
      GIT_CONFIG_GLOBAL: join(this.root, 'gitconfig'),
      GIT_CONFIG_SYSTEM: '/dev/null',
      ANTHROPIC_BASE_URL: this.#model.url,
      ANTHROPIC_API_KEY: 'dummy',
      DISABLE_TELEMETRY: '1',
      DISABLE_ERROR_REPORTING: '1',
      DISABLE_AUTOUPDATER: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      IS_SANDBOX: '1',
      ...this.#toolEnv,
    }
  }

  /** An empty home and a repository with these files. */
  async create(files, { env = {}, args = [] } = {}) {
    await this.#clear()
    this.#toolEnv = env
    this.#toolArgs = args
    for (const name of ['p', 'home', 't', 'bin', 'cfg'])
      mkdirSync(join(this.root, name), { recursive: true })
    writeFileSync(
      join(this.root, 'gitconfig'),
      '[user]\n\tname = Dev\n\temail = dev@example.invalid\n[init]\n\tdefaultBranch = main\n',
    )
    for (const [path, text] of Object.entries(files)) {
      const file = join(this.project, path)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
    }
    this.run('git', 'init', '-q')
    this.run('git', 'add', '-A')
    this.run('git', 'commit', '-qm', 'Import')
  }

  /** Runs a program in the repository, with the environment of the agent. */
  run(program, ...args) {
    return execFileSync(program, args, {
      cwd: this.project,
      env: this.env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  }

  /** A new conversation, or one that is resumed. */
  talk({ resume, trace } = {}) {
    const id = resume ?? randomUUID()
    const args = [
      ...TALK,
      ...ASK,
      ...this.#toolArgs,
      ...(resume === undefined ? ['--session-id', id] : ['--resume', id]),
    ]
    const command = trace === undefined ? [this.#program] : [...tracing(trace), this.#program]
    const child = spawn(command[0], [...command.slice(1), ...args], {
      cwd: this.project,
      env: this.env,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.#children.add(child)
    child.once('close', () => this.#children.delete(child))
    this.#model.follow(id)
    const conversation = new Conversation(child, this.#model)
    conversation.id = id
    return conversation
  }

  /** The hooks that are registered with the agent, in one object. */
  hooks(files = []) {
    const places = [
      join(this.config, 'settings.json'),
      join(this.project, '.claude', 'settings.json'),
      join(this.project, '.claude', 'settings.local.json'),
      ...files,
    ]
    const merged = {}
    for (const place of places.filter((path) => existsSync(path)))
      for (const [event, groups] of Object.entries(
        JSON.parse(readFileSync(place, 'utf8')).hooks ?? {},
      ))
        merged[event] = [...(merged[event] ?? []), ...groups]
    return merged
  }

  /** Registers hooks where the repository does not show them. */
  writeHooks(hooks) {
    writeFileSync(join(this.config, 'settings.json'), JSON.stringify({ hooks }))
  }

  /** Waits for what still runs in the background, and returns how many processes stay. */
  async settle() {
    const deadline = performance.now() + SETTLE_MS
    while (this.#processes().length > 0 && performance.now() < deadline) await pause(50)
    return this.#processes().length
  }

  /** Copies the whole state. Hard links inside it stay hard links. */
  async save(name) {
    const copy = join(this.#base, name)
    rmSync(copy, { recursive: true, force: true })
    execFileSync('cp', ['-a', this.root, copy])
  }

  async restore(name) {
    await this.#clear()
    execFileSync('cp', ['-a', join(this.#base, name), this.root])
    this.#model.forget()
  }

  async remove() {
    await this.#clear()
    await removeFolder(this.#base)
  }

  async #clear() {
    for (const pid of this.#processes()) endProcess(pid)
    while (this.#processes().length > 0) await pause(20)
    await removeFolder(this.root)
  }

  /** The processes that carry this world's environment. */
  #processes() {
    const tag = `CLAUDE_CONFIG_DIR=${this.config}`
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => environmentOf(pid).includes(tag))
      .map(Number)
  }
}

/** Stops only for started programs, so that it slows little else. */
function tracing(file) {
  return [
    'strace',
    '-f',
    '-qq',
    '--seccomp-bpf',
    '-e',
    'trace=execve',
    '-e',
    'signal=none',
    '-o',
    file,
  ]
}

function environmentOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
  } catch {
    // It ended meanwhile.
    return []
  }
}

function endProcess(pid) {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended meanwhile.
  }
}

async function removeFolder(path) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return rmSync(path, { recursive: true, force: true })
    } catch (error) {
      if (attempt === 50) throw error
      await pause(100)
    }
  }
}
