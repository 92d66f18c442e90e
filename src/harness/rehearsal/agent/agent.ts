import { Readable, Writable } from 'node:stream'
import {
  type AgentContext,
  type AgentRequestContext,
  type PromptRequest,
  type PromptResponse,
  RequestError,
  type SessionUpdate,
  type Stream,
  type ToolKind,
  agent,
  methods,
  ndJsonStream,
} from '@agentclientprotocol/sdk'
import { type Act, type PromptedTask, type Script, taskIn, turnFor } from './script.ts'
import { mintId, randomHex } from '../../../journal/ids.ts'
import type { Usage } from '../../../session/entries.ts'
import { findVersion } from '../../process/find-program.ts'
import { spawn } from 'node:child_process'
import { dirname, join, resolve } from 'node:path'
import { quoteWord } from '../../../command/shell-commands.ts'
import {
  createFolder,
  createFolderUnsynced,
  replaceFile,
  replaceUnsynced,
} from '../../../journal/files.ts'
import { readOrUndefined } from '../../../journal/look.ts'
import { NO_USAGE, addUsage } from '../../contract/usage.ts'
import { countOf, objectOf, parseJson } from '../../../text/json-fields.ts'

export interface RehearsalOptions {
  readonly script: Script
  readonly state: string | undefined
  readonly run: string
  readonly version: string
}

interface Live {
  readonly id: string
  readonly cwd: string
  readonly meter: Meter
  readonly said: { by: 'user' | 'agent'; text: string }[]
  turn?: AbortController | undefined
}

export async function serveRehearsal(
  stream: Stream,
  { script, state: folder, run, version }: RehearsalOptions,
): Promise<void> {
  const state = new RehearsalState(folder)
  const conversations = new Map<string, Live>()
  let takesCompaction = false

  const find = (id: string): Live => {
    const live = conversations.get(id)
    if (live === undefined) throw RequestError.resourceNotFound(id)
    return live
  }
  const keep = ({ id, meter, said }: Live) =>
    state.keep(id, { used: meter.used, isWarm: meter.isWarm, spent: meter.spent, said })

  const prompt = async ({
    params,
    client,
  }: AgentRequestContext<PromptRequest>): Promise<PromptResponse> => {
    const live = find(params.sessionId)
    if (live.turn !== undefined)
      throw RequestError.invalidRequest(undefined, 'another turn is running')
    const text = params.prompt.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
    live.said.push({ by: 'user', text })
    keep(live)
    const task = taskIn(text)
    const turn = turnFor(script, task, state.nextTurn(run, task?.name ?? ''))
    const { signal } = (live.turn = new AbortController())
    const heard = (said: string) => void live.said.push({ by: 'agent', text: said })
    const { id: sessionId, cwd, meter } = live
    const performer = new Performer({
      client,
      sessionId,
      cwd,
      script,
      meter,
      task,
      signal,
      heard,
      takesCompaction,
    })
    try {
      // As after a model's first answer.
      await tellUse(client, sessionId, meter.used, script.window)
      for (const act of turn) {
        if (signal.aborted) break
        await performer.perform(act)
        keep(live)
      }
      const usage = forProtocol(meter.endTurn())
      return { stopReason: signal.aborted ? 'cancelled' : 'end_turn', usage } as PromptResponse
    } finally {
      live.turn = undefined
      keep(live)
    }
  }

  const connection = agent({ name: 'stint rehearsal' })
    .onRequest(methods.agent.initialize, ({ params }) => {
      takesCompaction = (params.clientCapabilities?.session?.compaction ?? undefined) !== undefined
      return {
        protocolVersion: 1,
        agentInfo: { name: 'stint-rehearsal', title: 'Rehearsal', version },
        agentCapabilities: { loadSession: true },
      }
    })
    .onRequest(methods.agent.session.new, ({ params }) => {
      const live = {
        id: mintId(undefined),
        cwd: params.cwd,
        meter: new Meter(script.start),
        said: [],
      }
      conversations.set(live.id, live)
      keep(live)
      return { sessionId: live.id }
    })
    .onRequest(methods.agent.session.load, async ({ params, client }) => {
      const before = state.conversation(params.sessionId)
      if (before === undefined) throw RequestError.resourceNotFound(params.sessionId)
      const { used, isWarm, spent, said } = before
      const live = {
        id: params.sessionId,
        cwd: params.cwd,
        meter: new Meter(used, isWarm, spent),
        said: [...said],
      }
      conversations.set(live.id, live)
      await tellHistory(client, live.id, before, script.window)
      return {}
    })
    .onRequest(methods.agent.session.prompt, prompt)
    .onNotification(methods.agent.session.cancel, ({ params }) =>
      conversations.get(params.sessionId)?.turn?.abort(),
    )
    .connect(stream)
  await connection.closed
  for (const { turn } of conversations.values()) turn?.abort()
}

async function tellHistory(
  client: AgentContext,
  sessionId: string,
  { said, used }: RememberedConversation,
  size: number,
): Promise<void> {
  for (const { by, text } of said) {
    const sessionUpdate = by === 'user' ? 'user_message_chunk' : 'agent_message_chunk'
    await client.notify(methods.client.session.update, {
      sessionId,
      update: { sessionUpdate, content: { type: 'text', text } },
    })
  }
  await tellUse(client, sessionId, used, size)
}

async function tellUse(
  client: AgentContext,
  sessionId: string,
  used: number,
  size: number,
): Promise<void> {
  await client.notify(methods.client.session.update, {
    sessionId,
    update: { sessionUpdate: 'usage_update', used, size },
  })
}

/** Not in the stable protocol yet, but agents that count send it. */
function forProtocol({ input, cacheWritten, cacheRead, output }: Usage) {
  return {
    totalTokens: input + cacheWritten + cacheRead + output,
    inputTokens: input,
    outputTokens: output,
    cachedReadTokens: cacheRead,
    cachedWriteTokens: cacheWritten,
  }
}

export async function serveOnStandardStreams(
  script: Script,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const stream = ndJsonStream(
    Writable.toWeb(process.stdout),
    Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>,
  )
  await serveRehearsal(stream, {
    script,
    state: env.STINT_REHEARSAL_STATE,
    run: env.STINT_RUN ?? '',
    version: findVersion(),
  })
}

export interface Stage {
  readonly client: AgentContext
  readonly sessionId: string
  readonly cwd: string
  readonly script: Script
  readonly meter: Meter
  readonly task: PromptedTask | undefined
  readonly signal: AbortSignal
  readonly heard: (text: string) => void
  readonly takesCompaction: boolean
}

export class Performer {
  readonly #stage: Stage

  constructor(stage: Stage) {
    this.#stage = stage
  }

  async perform(act: Act): Promise<void> {
    switch (act.do) {
      case 'say':
        return this.#say(act.text)
      case 'run':
        return this.#shell(act.text)
      case 'ask':
        return this.#ask(act.text)
      case 'write':
        return this.#write(act.path, act.text)
      case 'append':
        return this.#write(
          act.path,
          `${readOrUndefined(this.#path(act.path))?.toString('utf8') ?? ''}${act.text}`,
        )
      case 'commit':
        return this.#commit(act.text)
      case 'done':
      case 'blocked':
      case 'failed':
        return this.#report(act.do, act.text)
      case 'lie':
        return this.#report('done', act.text)
      case 'usage':
        this.#stage.meter.request(act.amount)
        return this.tellUsage()
      case 'compact':
        return this.#compact()
      case 'fail':
        throw new RequestError(-32_603, act.text)
      case 'limit':
        throw new RequestError(
          -32_603,
          `usage limit reached; it resets at ${new Date(act.text).toISOString()}`,
        )
      case 'wait':
        return this.#wait(act.amount)
      case 'hang':
        return this.#wait()
      case 'die':
        process.kill(process.pid, 'SIGKILL')
    }
  }

  async tellUsage(): Promise<void> {
    await this.#tell({
      sessionUpdate: 'usage_update',
      used: this.#stage.meter.used,
      size: this.#stage.script.window,
    })
  }

  async #tell(update: SessionUpdate): Promise<void> {
    await this.#stage.client.notify(methods.client.session.update, {
      sessionId: this.#stage.sessionId,
      update,
    })
  }

  #path(path: string): string {
    return resolve(this.#stage.cwd, path)
  }

  async #say(text: string): Promise<void> {
    this.#stage.heard(text)
    await this.#tell({
      sessionUpdate: 'agent_message_chunk',
      messageId: randomHex(8),
      content: { type: 'text', text },
    })
  }

  #shell(command: string): Promise<void> {
    return this.#run(command, ['sh', '-c', command])
  }

  #commit(message: string): Promise<void> {
    const script = 'git add --all && git commit --quiet --message'
    return this.#run(`${script} ${quoteWord(message)}`, [
      'sh',
      '-c',
      `${script} "$1"`,
      'sh',
      message,
    ])
  }

  async #report(how: string, summary: string): Promise<void> {
    const { task } = this.#stage
    if (task === undefined) return this.#say(`There is no task to report as ${how}.`)
    const args = ['task', how, task.name, '--summary', summary]
    return this.#run(`stint ${args.map(quoteWord).join(' ')}`, [
      process.execPath,
      process.argv[1]!,
      ...args,
    ])
  }

  async #run(shown: string, command: readonly string[]): Promise<void> {
    const toolCallId = await this.#begin(shown, 'execute', { rawInput: { command: shown } })
    await this.#end(toolCallId, await runCommand(command, this.#stage.cwd, this.#stage.signal))
  }

  async #ask(command: string): Promise<void> {
    const { client, sessionId, cwd, signal } = this.#stage
    const rawInput = { command }
    const toolCallId = await this.#begin(command, 'execute', { rawInput, status: 'pending' })
    const { outcome } = await client.request(methods.client.session.requestPermission, {
      sessionId,
      toolCall: { toolCallId, title: command, kind: 'execute', rawInput },
      options: [
        { optionId: 'yes', name: 'Allow once', kind: 'allow_once' },
        { optionId: 'no', name: 'Reject', kind: 'reject_once' },
      ],
    })
    const isYes = outcome.outcome === 'selected' && outcome.optionId === 'yes'
    const ran = isYes
      ? await runCommand(['sh', '-c', command], cwd, signal)
      : { exitCode: 126, output: 'it was not allowed' }
    await this.#end(toolCallId, ran)
  }

  async #write(path: string, text: string): Promise<void> {
    const toolCallId = await this.#begin(`Write ${path}`, 'edit', {
      locations: [{ path: this.#path(path) }],
    })
    createFolder(dirname(this.#path(path)))
    replaceFile(this.#path(path), text)
    await this.#end(toolCallId, { exitCode: 0, output: '' })
  }

  async #begin(
    title: string,
    kind: ToolKind,
    more: { rawInput?: unknown; locations?: { path: string }[]; status?: 'pending' },
  ): Promise<string> {
    const toolCallId = randomHex(8)
    await this.#tell({
      sessionUpdate: 'tool_call',
      toolCallId,
      title,
      kind,
      status: 'in_progress',
      ...more,
    })
    return toolCallId
  }

  async #end(toolCallId: string, { exitCode, output }: Ran): Promise<void> {
    const content =
      output === ''
        ? []
        : [{ type: 'content' as const, content: { type: 'text' as const, text: output } }]
    const status = exitCode === 0 ? 'completed' : 'failed'
    await this.#tell({
      sessionUpdate: 'tool_call_update',
      toolCallId,
      status,
      rawOutput: { exitCode },
      content,
    })
  }

  async #compact(): Promise<void> {
    const { meter, script, takesCompaction } = this.#stage
    const compactionId = randomHex(8)
    if (takesCompaction)
      await this.#tell({ sessionUpdate: 'compaction_update', compactionId, status: 'in_progress' })
    meter.compact(script.start)
    if (takesCompaction)
      await this.#tell({ sessionUpdate: 'compaction_update', compactionId, status: 'completed' })
    await this.tellUsage()
  }

  #wait(ms?: number): Promise<void> {
    const { signal } = this.#stage
    return new Promise((done) => {
      const timer = ms === undefined ? undefined : setTimeout(done, ms)
      const stop = () => {
        clearTimeout(timer)
        done()
      }
      if (signal.aborted) stop()
      else signal.addEventListener('abort', stop, { once: true })
    })
  }
}

export interface Ran {
  readonly exitCode: number
  readonly output: string
}

const TAIL_BYTES = 4000
/** Background processes of the command may hold its output open. */
const LATE_OUTPUT_MS = 100

export function runCommand(
  command: readonly string[],
  cwd: string,
  signal: AbortSignal,
): Promise<Ran> {
  return new Promise((resolve) => {
    let tail: Buffer = Buffer.alloc(0)
    const [program, ...args] = command as [string, ...string[]]
    const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    const keep = (piece: Buffer) => (tail = Buffer.concat([tail, piece]).subarray(-TAIL_BYTES))
    for (const stream of [child.stdout, child.stderr]) stream.on('data', keep)
    const kill = () => {
      try {
        process.kill(-child.pid!, 'SIGKILL')
      } catch {
        // It ended by itself.
      }
    }
    const end = (exitCode: number) => {
      signal.removeEventListener('abort', kill)
      child.stdout.destroy()
      child.stderr.destroy()
      resolve({ exitCode, output: tail.toString('utf8') })
    }
    child.once('error', (error) => {
      keep(Buffer.from(error.message))
      end(127)
    })
    child.once('close', (code) => end(code ?? 128))
    child.once('exit', (code) => setTimeout(() => end(code ?? 128), LATE_OUTPUT_MS))
    if (signal.aborted) kill()
    else signal.addEventListener('abort', kill)
  })
}

export interface RememberedConversation {
  readonly used: number
  readonly isWarm: boolean
  readonly spent: Usage
  readonly said: readonly { readonly by: 'user' | 'agent'; readonly text: string }[]
}

export class RehearsalState {
  readonly #folder: string | undefined
  readonly #memory = new Map<string, string>()

  constructor(folder: string | undefined) {
    this.#folder = folder === '' ? undefined : folder
  }

  nextTurn(run: string, task: string): number {
    const key = JSON.stringify([run, task])
    const turns = objectOf(parseJson(this.#read('turns.json') ?? '{}')) ?? {}
    const turn = (countOf(turns[key]) ?? 0) + 1
    this.#write('turns.json', JSON.stringify({ ...turns, [key]: turn }))
    return turn
  }

  conversation(id: string): RememberedConversation | undefined {
    const text = /^[\w-]+$/.test(id) ? this.#read(`${id}.json`) : undefined
    return text === undefined ? undefined : (parseJson(text) as RememberedConversation | undefined)
  }

  keep(id: string, conversation: RememberedConversation): void {
    this.#write(`${id}.json`, JSON.stringify(conversation))
  }

  #read(name: string): string | undefined {
    return this.#folder === undefined
      ? this.#memory.get(name)
      : readOrUndefined(join(this.#folder, name))?.toString('utf8')
  }

  #write(name: string, text: string): void {
    if (this.#folder === undefined) return void this.#memory.set(name, text)
    createFolderUnsynced(this.#folder)
    replaceUnsynced(join(this.#folder, name), text)
  }
}

const SUMMARY_TOKENS = 2000

export class Meter {
  used: number
  isWarm: boolean
  #turn: Usage = NO_USAGE
  #all: Usage

  constructor(used: number, isWarm = false, spent: Usage = NO_USAGE) {
    this.used = used
    this.isWarm = isWarm
    this.#all = spent
  }

  request(added: number): void {
    const output = Math.ceil(added / 10)
    const spent = {
      input: 0,
      cacheWritten: added - output + (this.isWarm ? 0 : this.used),
      cacheRead: this.isWarm ? this.used : 0,
      output,
    }
    this.#turn = addUsage(this.#turn, spent)
    this.#all = addUsage(this.#all, spent)
    this.used += added
    this.isWarm = true
  }

  compact(start: number): void {
    this.request(0)
    this.used = start + SUMMARY_TOKENS
    this.isWarm = false
  }

  get spent(): Usage {
    return this.#all
  }

  endTurn(): Usage {
    if (this.#turn === NO_USAGE) this.request(0)
    const turn = this.#turn
    this.#turn = NO_USAGE
    return turn
  }
}
