// A project written by an earlier Stint, with what some 200 commands on it printed and recorded. It must open, resume, merge and
// export as before. A difference is a bug, or it is intended and has a line in CHANGELOG.md. Accept an intended difference with
//
//   npm run test:process -- test/frozen -u
//
// and read the changed files under test/fixtures/frozen/expected before you commit them. The project itself (project.tar.gz, written by
// make.mjs) is never written again. Only the built program is used here, nothing of src/, so that sources may move.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Command, GROUPS } from './commands.ts'
import { Normaliser, REPLAYED_AT, normaliseField } from './normalise.ts'
import {
  buildStage,
  environment,
  hookProgram,
  lockStage,
  program,
  project,
  restoreProject,
  stage,
  stampFiles,
  state,
} from './stage.mjs'

interface CommandResult {
  readonly exit?: number | string | null
  readonly stdout: string
  readonly stderr?: string
}

// Harnesses run a second program after these events.
const EVENTS_WITH_BACKGROUND = new Set([
  'SessionStart',
  'UserPromptSubmit',
  'PreCompact',
  'Stop',
  'SubagentStop',
])
const MINUTE = 60_000
const expected = join(import.meta.dirname, '..', 'fixtures', 'frozen', 'expected')

let unlock: () => void
beforeAll(async () => {
  unlock = await lockStage()
  buildStage()
}, 600_000)
afterAll(() => unlock?.())

describe.each(GROUPS)(
  'the frozen project, $name',
  ({ name: group, isWriting, isUnstamped, commands }) => {
    let replay: Replay
    beforeAll(() => {
      replay = new Replay(isUnstamped !== true)
    })
    afterAll(async () => {
      await replay.end()
    })

    test.each(commands)('$name', async (command) => {
      const text = await replay.run(command, isWriting)
      await expect(text).toMatchFileSnapshot(join(expected, group, `${fileName(command.name)}.txt`))
    })
  },
)

/** The user agrees once to what the project brings. Done in a first copy, because it opens the index. */
function restoreAgreedProject(): void {
  restoreProject()
  const agreed = spawnSync(process.execPath, [program, 'trust', '--yes'], {
    cwd: project,
    env: environment(REPLAYED_AT),
    encoding: 'utf8',
  })
  if (agreed.status !== 0) throw new Error(agreed.stderr)
  const token = join('.git', 'stint', 'trusted')
  const consents = join(stage, 'consents')
  cpSync(join(state, 'trust'), consents, { recursive: true })
  cpSync(join(project, token), join(stage, 'trusted'))
  restoreProject()
  cpSync(consents, join(state, 'trust'), { recursive: true })
  cpSync(join(stage, 'trusted'), join(project, token))
}

/** One copy of the project and the commands that run in it, in order. */
class Replay {
  readonly #normaliser: Normaliser
  readonly #seen = new Set<string>()
  readonly #ids: Readonly<Record<string, string>>
  #files: ReadonlyMap<string, string>
  #commits: ReadonlySet<string>
  #count = 0
  #server: { child: ChildProcess; origin: string; cookie: string } | undefined
  #mcp: { child: ChildProcess; lines: AsyncIterator<string>; id: number } | undefined

  constructor(readonly isStamped: boolean) {
    restoreAgreedProject()
    this.#ids = frozenIds()
    this.#files = readFiles()
    this.#commits = readCommits()
    this.#normaliser = new Normaliser([...this.#files.values()].join('\n'))
  }

  async run(command: Command, isWriting: boolean): Promise<string> {
    const at = REPLAYED_AT + this.#count * MINUTE
    this.#count += 1
    const env = environment(at)
    const since = Date.now() - 2
    if (command.before !== undefined) {
      const { status, stderr } = spawnSync('sh', ['-c', command.before], {
        cwd: project,
        encoding: 'utf8',
      })
      if (status !== 0) throw new Error(stderr)
    }
    const ran = await this.#play(command, env)
    // Background processes have their own clock, and their files keep their times.
    if (this.isStamped && this.#server === undefined && this.#mcp === undefined)
      stampFiles(since, Number(env['FROZEN_SHIFT']))
    return this.#describe(command, ran, isWriting)
  }

  async end(): Promise<void> {
    for (const child of [this.#server?.child, this.#mcp?.child]) {
      if (child === undefined || child.exitCode !== null) continue
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    }
  }

  async #play(
    { args, event, get, mcp, stdin = '' }: Command,
    env: NodeJS.ProcessEnv,
  ): Promise<CommandResult> {
    if (args !== undefined)
      return start([program, ...args.map((arg) => this.#ids[arg] ?? arg)], env, stdin)
    if (event !== undefined) {
      const input = JSON.stringify(event)
      const ran = start([hookProgram, 'hook'], env, input)
      if (EVENTS_WITH_BACKGROUND.has(String(event['hook_event_name'])))
        start([hookProgram, 'hook', 'after'], env, input)
      return ran
    }
    if (get !== undefined) return this.#get(get, env)
    return this.#ask(mcp!, env)
  }

  async #get(path: string, env: NodeJS.ProcessEnv): Promise<CommandResult> {
    const { origin, cookie } = (this.#server ??= await serve(env))
    const filled = Object.entries(this.#ids).reduce(
      (text, [name, id]) => text.replace(name, id),
      path,
    )
    const answer = await fetch(`${origin}${filled}`, { headers: { cookie } })
    return { exit: answer.status, stdout: formatJson(await answer.text()) }
  }

  async #ask(
    { method, params = {} }: NonNullable<Command['mcp']>,
    env: NodeJS.ProcessEnv,
  ): Promise<CommandResult> {
    const mcp = (this.#mcp ??= startMcp(env))
    mcp.id += 1
    mcp.child.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', id: mcp.id, method, params })}\n`)
    const { value } = await mcp.lines.next()
    if (method === 'initialize')
      mcp.child.stdin!.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    return { stdout: formatJson(String(value)) }
  }

  /** The result of a command as text: its output, appended entries and changed files. */
  #describe(
    { name, before, stdin, event, volatile = [] }: Command,
    ran: CommandResult,
    isWriting: boolean,
  ): string {
    const files = readFiles()
    const commits = readCommits()
    const appended: string[] = []
    const changed: string[] = []
    for (const path of new Set([...this.#files.keys(), ...files.keys()])) {
      const was = this.#files.get(path)
      const is = files.get(path)
      if (was === is) continue
      if (/(?:log\.jsonl|\/outbox\/.*)$/.test(path)) {
        const known = new Set(was?.split('\n'))
        for (const line of is?.split('\n') ?? []) {
          // An entry in an outbox is journalled later and counts once.
          const key = /"once":"outbox:[^"]*"/.exec(line)?.[0] ?? line
          if (line === '' || known.has(line) || this.#seen.has(key)) continue
          this.#seen.add(key)
          this.#normaliser.learn(line)
          appended.push(`${logName(path)} ${formatEntry(line)}`)
        }
      } else
        changed.push(`${was === undefined ? 'new' : is === undefined ? 'gone' : 'changed'} ${path}`)
    }
    this.#normaliser.learn([...appended, ...changed].join('\n'))
    for (const commit of commits)
      if (!this.#commits.has(commit)) this.#normaliser.learnCommit(commit)
    this.#files = files
    this.#commits = commits
    const steady = (text: string) =>
      volatile.reduce((result, [from, to]) => result.replaceAll(from, to), text)
    const sections = [
      `$ ${name}`,
      ...(before === undefined ? [] : [`--- before\n${before}`]),
      ...(stdin === undefined ? [] : [`--- stdin\n${stdin}`]),
      ...(event === undefined ? [] : [`--- stdin\n${JSON.stringify(event, undefined, 2)}`]),
      ...(ran.exit === undefined ? [] : [`--- exit ${ran.exit}`]),
      `--- stdout\n${steady(ran.stdout)}`,
      ...(ran.stderr === undefined || ran.stderr === ''
        ? []
        : [`--- stderr\n${steady(ran.stderr)}`]),
      ...(isWriting
        ? [`--- entries\n${appended.join('\n')}`, `--- files\n${changed.toSorted().join('\n')}`]
        : []),
    ]
    return `${this.#normaliser.text(sections.join('\n'))}\n`
  }
}

function start(args: readonly string[], env: NodeJS.ProcessEnv, input: string): CommandResult {
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: project,
    env,
    input,
    encoding: 'utf8',
    maxBuffer: 1 << 27,
  })
  return { exit: status ?? signal, stdout, stderr }
}

async function serve(env: NodeJS.ProcessEnv) {
  const token = 'frozen-frozen-frozen'
  const child = spawn(process.execPath, [program, 'serve', '--json'], {
    cwd: project,
    env: { ...env, STINT_SERVE_TOKEN: token },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  const { origin, port } = new URL((JSON.parse(line) as { url: string }).url)
  return { child, origin, cookie: `stint-${port}=${token}` }
}

function startMcp(env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, [program, 'mcp'], {
    cwd: project,
    env,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  return { child, lines: createInterface(child.stdout)[Symbol.asyncIterator](), id: 0 }
}

/** Every text under the project's own folders that people and programs read. */
function readFiles(): ReadonlyMap<string, string> {
  const files = new Map<string, string>()
  for (const folder of [
    'project/.git/stint/outbox',
    'project/.sessions',
    'project/.tasks',
    'project/.claude',
    'project',
  ]) {
    if (!existsSync(join(stage, folder))) continue
    const names = readdirSync(join(stage, folder), { recursive: folder !== 'project' }).map(String)
    for (const name of names.toSorted()) {
      const path = join(folder, name)
      if (
        /\/(?:index\.db.*|touched\/.*|prepared\.json|snapshot\.json)$/.test(path) ||
        !statSync(join(stage, path)).isFile()
      )
        continue
      files.set(path, readFileSync(join(stage, path), 'utf8'))
    }
  }
  return files
}

function readCommits(): ReadonlySet<string> {
  const { stdout } = spawnSync('git', ['rev-list', '--all'], {
    cwd: project,
    encoding: 'utf8',
    env: { ...environment(REPLAYED_AT) },
  })
  return new Set(stdout.split('\n').filter(Boolean))
}

/** The session or run of a log or an outbox. */
function logName(path: string): string {
  return /([^/]+)\/[^/]+$/.exec(path)![1]!
}

function formatEntry(line: string): string {
  try {
    const { kind, by, data } = JSON.parse(line) as Record<string, unknown>
    return `${String(kind)} by ${String(by)} ${JSON.stringify(data, (name, value) => normaliseField(String(kind), name, value), 2)}`
  } catch {
    // A torn line is shown as it is.
    return line
  }
}

/** Ids in the archive that commands use. */
function frozenIds(): Readonly<Record<string, string>> {
  const sessions = join(project, '.sessions')
  const find = (folder: string, text: string) =>
    readdirSync(join(sessions, folder)).find((id) => {
      const log = join(sessions, folder, id, 'log.jsonl')
      return (
        statSync(log, { throwIfNoEntry: false }) !== undefined &&
        readFileSync(log, 'utf8').includes(text)
      )
    })!
  return {
    SESSION: find('journal', '"name":"sweep-metrics"'),
    RUN: find('runs', 'port-to-the-old-kernel'),
    WIDE: find('runs', 'write-the-runbook'),
    DELEGATE: find('runs', 'label-each-sweep'),
  }
}

function formatJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2)
  } catch {
    // Not every response is JSON.
    return text
  }
}

function fileName(name: string): string {
  return name
    .replaceAll(/[^A-Za-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 60)
}
