// A scripted agent without a model, for dry runs, the tour and tests.
import { dirname, join, resolve } from 'node:path'
import { Readable, Writable } from 'node:stream'
import {
  type AgentContext,
  type AgentRequestContext,
  type PromptRequest,
  type PromptResponse,
  RequestError,
  type SessionUpdate,
  type Stream,
  type ToolCall,
  agent,
  methods,
  ndJsonStream,
} from '@agentclientprotocol/sdk'
import { quoteWord } from '../../../command/shell-commands.ts'
import {
  OPEN_TO_OTHERS,
  createFolder,
  createFolderUnsynced,
  replaceFile,
  replaceUnsynced,
} from '../../../journal/write-files.ts'
import { mintId, randomHex } from '../../../journal/ids.ts'
import { readOrUndefined } from '../../../journal/read-files.ts'
import type { Usage } from '../../../session/entries.ts'
import { asCount, asObject, parseJson } from '../../../text/json-fields.ts'
import { NO_USAGE, addUsage, usageTotal } from '../../contract/usage.ts'
import { stintVersion } from '../../process/find-program.ts'
import { runDetached } from '../../process/run-detached.ts'
import { type Act, type PromptedTask, type Script, taskFromPrompt, scriptedTurn } from './script.ts'

export interface RememberedConversation {
  readonly used: number
  readonly isWarm: boolean
  readonly spent: Usage
  readonly said: readonly { readonly by: 'user' | 'agent'; readonly text: string }[]
}

interface LiveConversation {
  readonly id: string
  readonly cwd: string
  readonly meter: Meter
  readonly said: RememberedConversation['said'][number][]
  turn?: AbortController | undefined
}

export function serveRehearsalOnStdio(script: Script, env: NodeJS.ProcessEnv): Promise<void> {
  const stream = ndJsonStream(
    Writable.toWeb(process.stdout),
    Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>,
  )
  return serveRehearsal(stream, script, env)
}

/** What the agent does to the process it is served in. */
export interface RehearsalHost {
  readonly run: typeof runDetached
  /** Ends the agent as a crash does. */
  readonly die: () => void
}

const THIS_PROCESS: RehearsalHost = {
  run: runDetached,
  die: () => process.kill(process.pid, 'SIGKILL'),
}

/** Serves until the other side closes the stream. */
export async function serveRehearsal(
  stream: Stream,
  script: Script,
  env: NodeJS.ProcessEnv,
  host: RehearsalHost = THIS_PROCESS,
): Promise<void> {
  const state = new RehearsalState(env.STINT_REHEARSAL_STATE)
  const conversations = new Map<string, LiveConversation>()
  let supportsCompaction = false

  const save = ({ id, meter, said }: LiveConversation) => {
    const { used, isWarm, spent } = meter
    state.save(id, { used, isWarm, spent, said })
  }

  const prompt = async ({
    params,
    client,
  }: AgentRequestContext<PromptRequest>): Promise<PromptResponse> => {
    const live = conversations.get(params.sessionId)
    if (live === undefined) throw RequestError.resourceNotFound(params.sessionId)
    if (live.turn !== undefined)
      throw RequestError.invalidRequest(undefined, 'another turn is running')
    const text = params.prompt.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
    live.said.push({ by: 'user', text })
    save(live)
    const task = taskFromPrompt(text)
    // Turns of a task are counted within a run.
    const turn = scriptedTurn(script, task, state.nextTurn(env.STINT_RUN ?? '', task?.name ?? ''))
    const { signal } = (live.turn = new AbortController())
    const performer = new Performer({
      client,
      live,
      script,
      task,
      signal,
      supportsCompaction,
      env,
      host,
    })
    try {
      // As after a model's first reply.
      await performer.sendUsage()
      for (const act of turn) {
        if (signal.aborted) break
        await performer.perform(act)
        save(live)
      }
      const usage = protocolUsage(live.meter.endTurn())
      return { stopReason: signal.aborted ? 'cancelled' : 'end_turn', usage } as PromptResponse
    } finally {
      live.turn = undefined
      save(live)
    }
  }

  const connection = agent({ name: 'stint rehearsal' })
    .onRequest(methods.agent.initialize, ({ params }) => {
      supportsCompaction =
        (params.clientCapabilities?.session?.compaction ?? undefined) !== undefined
      return {
        protocolVersion: 1,
        agentInfo: { name: 'stint-rehearsal', title: 'Rehearsal', version: stintVersion() },
        agentCapabilities: { loadSession: true },
      }
    })
    .onRequest(methods.agent.session.new, ({ params: { cwd } }) => {
      const id = mintId(undefined)
      const live = { id, cwd, meter: new Meter(script.start), said: [] }
      conversations.set(id, live)
      save(live)
      return { sessionId: id }
    })
    .onRequest(methods.agent.session.load, async ({ params: { sessionId, cwd }, client }) => {
      const before = state.conversation(sessionId)
      if (before === undefined) throw RequestError.resourceNotFound(sessionId)
      const { used, isWarm, spent, said } = before
      const meter = new Meter(used, isWarm, spent)
      conversations.set(sessionId, { id: sessionId, cwd, meter, said: [...said] })
      for (const { by, text } of said) {
        const sessionUpdate = by === 'user' ? 'user_message_chunk' : 'agent_message_chunk'
        await sendUpdate(client, sessionId, { sessionUpdate, content: { type: 'text', text } })
      }
      await sendUpdate(client, sessionId, {
        sessionUpdate: 'usage_update',
        used,
        size: script.window,
      })
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

async function sendUpdate(client: AgentContext, sessionId: string, update: SessionUpdate) {
  await client.notify(methods.client.session.update, { sessionId, update })
}

/** Not in the stable protocol yet, but agents that count tokens send it. */
function protocolUsage(usage: Usage) {
  return {
    totalTokens: usageTotal(usage),
    inputTokens: usage.input,
    outputTokens: usage.output,
    cachedReadTokens: usage.cacheRead,
    cachedWriteTokens: usage.cacheWritten,
  }
}

interface PerformanceContext {
  readonly client: AgentContext
  readonly live: LiveConversation
  readonly script: Script
  readonly task: PromptedTask | undefined
  /** Aborted when the turn is cancelled. */
  readonly signal: AbortSignal
  readonly supportsCompaction: boolean
  readonly env: NodeJS.ProcessEnv
  readonly host: RehearsalHost
}

const TAIL_BYTES = 4000

class Performer {
  readonly #context: PerformanceContext

  constructor(context: PerformanceContext) {
    this.#context = context
  }

  async perform(act: Act): Promise<void> {
    const { meter } = this.#context.live
    switch (act.do) {
      case 'say':
        return this.#say(act.text)
      case 'run':
        return this.#run(act.text, ['sh', '-c', act.text])
      case 'ask':
        return this.#ask(act.text)
      case 'write':
        return this.#write(act.path, act.text)
      case 'append': {
        const before = readOrUndefined(this.#path(act.path))?.toString('utf8') ?? ''
        return this.#write(act.path, `${before}${act.text}`)
      }
      case 'commit': {
        const script = 'git add --all && git commit --quiet --message'
        const command = ['sh', '-c', `${script} "$1"`, 'sh', act.text] as const
        return this.#run(`${script} ${quoteWord(act.text)}`, command)
      }
      case 'done':
      case 'blocked':
      case 'failed':
        return this.#report(act.do, act.text)
      case 'lie':
        return this.#report('done', act.text)
      case 'usage':
        meter.request(act.amount)
        return this.sendUsage()
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
        return this.#die()
    }
  }

  sendUsage(): Promise<void> {
    const { live, script } = this.#context
    return this.#sendUpdate({
      sessionUpdate: 'usage_update',
      used: live.meter.used,
      size: script.window,
    })
  }

  #sendUpdate(update: SessionUpdate) {
    return sendUpdate(this.#context.client, this.#context.live.id, update)
  }

  #path(path: string) {
    return resolve(this.#context.live.cwd, path)
  }

  async #say(text: string) {
    this.#context.live.said.push({ by: 'agent', text })
    await this.#sendUpdate({
      sessionUpdate: 'agent_message_chunk',
      messageId: randomHex(8),
      content: { type: 'text', text },
    })
  }

  async #report(how: string, summary: string) {
    const { task } = this.#context
    if (task === undefined) return this.#say(`There is no task to report as ${how}.`)
    const args = ['task', how, task.name, '--summary', summary]
    const shown = `stint ${args.map(quoteWord).join(' ')}`
    return this.#run(shown, [process.execPath, process.argv[1]!, ...args])
  }

  async #run(shown: string, command: readonly [string, ...string[]]) {
    const use = { title: shown, kind: 'execute', rawInput: { command: shown } } as const
    await this.#runUse(await this.#startTool(use), command)
  }

  async #runUse(toolCallId: string, command: readonly [string, ...string[]]) {
    const { live, signal, env, host } = this.#context
    let tail = Buffer.alloc(0)
    const onOutput = (chunk: Buffer) => {
      tail = Buffer.concat([tail, chunk]).subarray(-TAIL_BYTES)
    }
    const { code } = await host.run(command, { cwd: live.cwd, env, signal, onOutput })
    await this.#endTool(toolCallId, code ?? 128, tail.toString('utf8'))
  }

  async #ask(command: string) {
    const { client, live } = this.#context
    const use = { title: command, kind: 'execute', rawInput: { command } } as const
    const toolCallId = await this.#startTool({ ...use, status: 'pending' })
    const { outcome } = await client.request(methods.client.session.requestPermission, {
      sessionId: live.id,
      toolCall: { toolCallId, ...use },
      options: [
        { optionId: 'yes', name: 'Allow once', kind: 'allow_once' },
        { optionId: 'no', name: 'Reject', kind: 'reject_once' },
      ],
    })
    if (outcome.outcome === 'selected' && outcome.optionId === 'yes')
      return this.#runUse(toolCallId, ['sh', '-c', command])
    await this.#endTool(toolCallId, 126, 'it was not allowed')
  }

  async #write(path: string, text: string) {
    const target = this.#path(path)
    const locations = [{ path: target }]
    const toolCallId = await this.#startTool({ title: `Write ${path}`, kind: 'edit', locations })
    createFolder(dirname(target), OPEN_TO_OTHERS)
    replaceFile(target, text)
    await this.#endTool(toolCallId, 0, '')
  }

  async #startTool(use: Omit<ToolCall, 'toolCallId'>) {
    const toolCallId = randomHex(8)
    await this.#sendUpdate({
      sessionUpdate: 'tool_call',
      toolCallId,
      status: 'in_progress',
      ...use,
    })
    return toolCallId
  }

  async #endTool(toolCallId: string, exitCode: number, text: string) {
    await this.#sendUpdate({
      sessionUpdate: 'tool_call_update',
      toolCallId,
      status: exitCode === 0 ? 'completed' : 'failed',
      rawOutput: { exitCode },
      content: text === '' ? [] : [{ type: 'content', content: { type: 'text', text } }],
    })
  }

  async #compact() {
    const { live, script, supportsCompaction } = this.#context
    const compaction = { sessionUpdate: 'compaction_update', compactionId: randomHex(8) } as const
    if (supportsCompaction) await this.#sendUpdate({ ...compaction, status: 'in_progress' })
    live.meter.compact(script.start)
    if (supportsCompaction) await this.#sendUpdate({ ...compaction, status: 'completed' })
    await this.sendUsage()
  }

  #die(): Promise<never> {
    this.#context.host.die()
    return new Promise(() => undefined)
  }

  /** Waits for the given time or forever, but not beyond the end of the turn. */
  #wait(ms?: number): Promise<void> {
    const { signal } = this.#context
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

/** Stored in a folder if one is given, else only as long as the agent lives. */
class RehearsalState {
  readonly #folder: string | undefined
  readonly #memory = new Map<string, string>()

  constructor(folder: string | undefined) {
    this.#folder = folder === '' ? undefined : folder
  }

  /** Counts a turn of a task within a run and returns its number, starting at 1. */
  nextTurn(run: string, task: string): number {
    const key = JSON.stringify([run, task])
    const turns = asObject(parseJson(this.#read('turns.json') ?? '{}')) ?? {}
    const turn = (asCount(turns[key]) ?? 0) + 1
    this.#write('turns.json', JSON.stringify({ ...turns, [key]: turn }))
    return turn
  }

  conversation(id: string): RememberedConversation | undefined {
    const text = /^[\w-]+$/.test(id) ? this.#read(`${id}.json`) : undefined
    return text === undefined ? undefined : (parseJson(text) as RememberedConversation | undefined)
  }

  save(id: string, conversation: RememberedConversation): void {
    this.#write(`${id}.json`, JSON.stringify(conversation))
  }

  #read(name: string) {
    return this.#folder === undefined
      ? this.#memory.get(name)
      : readOrUndefined(join(this.#folder, name))?.toString('utf8')
  }

  #write(name: string, text: string) {
    if (this.#folder === undefined) return void this.#memory.set(name, text)
    createFolderUnsynced(this.#folder)
    replaceUnsynced(join(this.#folder, name), text)
  }
}

const SUMMARY_TOKENS = 2000

/** Each request reads the whole context again, from the cache once it is warm. */
class Meter {
  used: number
  isWarm: boolean
  spent: Usage
  #turn = NO_USAGE

  constructor(used: number, isWarm = false, spent = NO_USAGE) {
    this.used = used
    this.isWarm = isWarm
    this.spent = spent
  }

  /** Grows the context by `added` tokens; a tenth of them is the reply. */
  request(added: number): void {
    const output = Math.ceil(added / 10)
    const spent = {
      input: 0,
      cacheWritten: added - output + (this.isWarm ? 0 : this.used),
      cacheRead: this.isWarm ? this.used : 0,
      output,
    }
    this.#turn = addUsage(this.#turn, spent)
    this.spent = addUsage(this.spent, spent)
    this.used += added
    this.isWarm = true
  }

  compact(start: number): void {
    this.request(0)
    this.used = start + SUMMARY_TOKENS
    this.isWarm = false
  }

  /** A turn takes at least one request. */
  endTurn(): Usage {
    if (this.#turn === NO_USAGE) this.request(0)
    const turn = this.#turn
    this.#turn = NO_USAGE
    return turn
  }
}
