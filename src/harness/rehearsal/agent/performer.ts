import { spawn } from 'node:child_process'
import { dirname, resolve } from 'node:path'
import {
  type AgentContext,
  RequestError,
  type SessionUpdate,
  type ToolKind,
  methods,
} from '@agentclientprotocol/sdk'
import type { Act, PromptedTask, Script } from './script.ts'
import type { Meter } from './state.ts'
import { quoteWord } from '../../../command/quote-word.ts'
import { createFolder, replaceFile } from '../../../journal/files.ts'
import { readOrUndefined } from '../../../journal/look.ts'
import { randomHex } from '../../../journal/random.ts'

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
