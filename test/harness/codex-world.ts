import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { ConversationOptions } from '../../src/harness/contract/drive.ts'
import { codexHarness } from '../../src/harness/codex/drive.ts'
import type { Usage } from '../../src/session/entries.ts'
import type { Act, HarnessWorld } from '../contract/harness.ts'
import { codexProgram } from './install.ts'
import { type ResponsesReply, ResponsesStub } from './responses-stub.ts'

const COMPACTS_AT = 50_000
const NEVER = new Promise<never>(() => undefined)

/**
 * A project with the real Codex, in its own home folder, talking to a model on loopback. No file of
 * the user who runs the tests is read or written.
 */
export class CodexWorld implements HarnessWorld {
  readonly harness = codexHarness
  readonly root = mkdtempSync(join(tmpdir(), 'xw-'))
  readonly project = join(this.root, 'p')
  readonly stub = new ResponsesStub()
  readonly env: Record<string, string>
  readonly missing: NonNullable<HarnessWorld['missing']>
  readonly #replies: ResponsesReply[] = []

  private constructor() {
    for (const name of ['p', 'home', 't', 'codex']) mkdirSync(join(this.root, name))
    this.env = {
      PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
      HOME: join(this.root, 'home'),
      CODEX_HOME: join(this.root, 'codex'),
      TMPDIR: join(this.root, 't'),
      LANG: 'C.UTF-8',
      SHELL: '/bin/bash',
      TERM: 'dumb',
      GIT_CONFIG_GLOBAL: join(this.root, 'gitconfig'),
      GIT_CONFIG_SYSTEM: '/dev/null',
      MODEL_KEY: 'dummy',
      STINT_CODEX: codexProgram(),
    }
    this.missing = {
      harness: codexHarness,
      env: { ...this.env, STINT_CODEX: '', PATH: '/nowhere' },
    }
    const user =
      '[user]\n\tname = Test\n\temail = test@example.invalid\n[init]\n\tdefaultBranch = main\n'
    writeFileSync(this.env.GIT_CONFIG_GLOBAL!, user)
    this.git('init', '-q')
    writeFileSync(join(this.project, 'readme.txt'), 'a project\n')
    this.git('add', '.')
    this.git('commit', '-qm', 'start')
  }

  static async create(): Promise<CodexWorld> {
    const world = new CodexWorld()
    await world.stub.start()
    world.configure('')
    onTestFinished(() => world.#remove())
    return world
  }

  get open(): ConversationOptions {
    return { cwd: this.project, env: this.env, permissions: 'all', allow: [] }
  }

  get configuration(): string {
    return readFileSync(join(this.root, 'codex', 'config.toml'), 'utf8')
  }

  /** The user's own configuration: the model on loopback, and more. */
  configure(more: string, compactsAt: number | 'by itself' = COMPACTS_AT): void {
    const text = `model = "stub-model"
model_provider = "stub"
model_context_window = 200000
${compactsAt === 'by itself' ? '' : `model_auto_compact_token_limit = ${compactsAt}`}
check_for_update_on_startup = false
${more}
[model_providers.stub]
name = "Stub"
base_url = "${this.stub.url}"
env_key = "MODEL_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
[analytics]
enabled = false
[feedback]
enabled = false
[features]
plugins = false
`
    writeFileSync(join(this.root, 'codex', 'config.toml'), text)
  }

  git(...args: readonly string[]): string {
    return execFileSync('git', args, { cwd: this.project, env: this.env, encoding: 'utf8' })
  }

  script(...turns: readonly (readonly Act[])[]): void {
    const replies = turns.flatMap((acts) => this.#repliesFor(acts))
    this.#replies.push(...replies)
    this.stub.script(...replies)
  }

  seen(): string {
    return this.stub.requests.map(({ text }) => text).join('\n')
  }

  spent(): Usage {
    const counted = this.#replies.filter(
      ({ error, after }) => error === undefined && after === undefined,
    )
    const output = counted.reduce((sum, reply) => sum + (reply.outputTokens ?? 20), 0)
    const cacheRead = counted.reduce((sum, reply) => sum + (reply.cachedTokens ?? 0), 0)
    const input = counted.reduce((sum, reply) => sum + (reply.inputTokens ?? 100), 0) - cacheRead
    return { input, cacheWritten: 0, cacheRead, output }
  }

  /** One reply per request of a turn: a text goes along with the tool use that follows it. */
  #repliesFor(acts: readonly Act[]): readonly ResponsesReply[] {
    const replies: ResponsesReply[] = []
    let coming: ResponsesReply = {}
    const reply = (more: ResponsesReply) => {
      replies.push({ ...coming, ...more })
      coming = {}
    }
    for (const act of acts) {
      if ('say' in act) coming = { ...coming, text: act.say }
      else if ('tokens' in act) coming = { ...coming, ...used(act.tokens) }
      else if ('compact' in act) coming = { ...coming, ...used(COMPACTS_AT + 10_000) }
      else if ('run' in act) reply({ tools: [{ name: 'exec_command', input: { cmd: act.run } }] })
      else if ('write' in act)
        reply({ tools: [{ name: 'exec_command', input: { cmd: patch(act.write, act.text) } }] })
      else if ('fail' in act)
        reply({ error: { status: 400, body: { error: { message: act.fail } } } })
      else if ('limit' in act) reply({ error: usedUp(act.limit) })
      else if ('hang' in act) reply({ after: NEVER })
      else reply({ arrived: () => this.killAgent(), after: NEVER })
    }
    const last = replies.at(-1)
    if (last === undefined || last.tools !== undefined || coming.text !== undefined) reply({})
    return replies
  }

  /** kill -9 of Codex in this world, and of nothing it started. */
  killAgent(): void {
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
      if (this.#isAgent(pid)) process.kill(Number(pid), 'SIGKILL')
  }

  #isAgent(pid: string): boolean {
    try {
      const isCodex = readlinkSync(`/proc/${pid}/exe`) === codexProgram()
      return isCodex && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(this.env.CODEX_HOME!)
    } catch {
      // It ended meanwhile.
      return false
    }
  }

  async #remove(): Promise<void> {
    await this.stub.stop()
    // An ended process may still be writing its last lines.
    rmSync(this.root, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 })
  }
}

/** This many tokens in the context, including the reply. */
function used(tokens: number): ResponsesReply {
  const outputTokens = 70
  return { inputTokens: tokens - outputTokens, cachedTokens: 1000, outputTokens }
}

function usedUp(resetsAt: string): NonNullable<ResponsesReply['error']> {
  const seconds = Math.floor(Date.parse(resetsAt) / 1000)
  return {
    status: 429,
    body: {
      error: {
        type: 'usage_limit_reached',
        message: 'The usage limit has been reached',
        plan_type: 'plus',
        resets_at: seconds,
      },
    },
    headers: {
      'x-codex-primary-used-percent': '100',
      'x-codex-primary-window-minutes': '300',
      'x-codex-primary-reset-at': String(seconds),
    },
  }
}

/** Codex uses the program of that name for its tool. */
export function patch(path: string, text: string): string {
  const lines = text.replace(/\n$/, '').split('\n')
  return [
    "apply_patch <<'EOF'",
    '*** Begin Patch',
    `*** Add File: ${path}`,
    ...lines.map((line) => `+${line}`),
    '*** End Patch',
    'EOF\n',
  ].join('\n')
}
