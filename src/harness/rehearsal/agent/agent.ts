import { Readable, Writable } from 'node:stream'
import {
  type AgentContext,
  type AgentRequestContext,
  type PromptRequest,
  type PromptResponse,
  RequestError,
  type Stream,
  agent,
  methods,
  ndJsonStream,
} from '@agentclientprotocol/sdk'
import { Performer } from './performer.ts'
import { type Script, taskIn, turnFor } from './script.ts'
import { Meter, RehearsalState, type RememberedConversation } from './state.ts'
import { mintId } from '../../../journal/ids.ts'
import type { Usage } from '../../../session/entries.ts'
import { findVersion } from '../../process/stint-program.ts'

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
    state: env['STINT_REHEARSAL_STATE'],
    run: env['STINT_RUN'] ?? '',
    version: findVersion(),
  })
}
