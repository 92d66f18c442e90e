import {
  type AnyMessage,
  type ClientConnection,
  type InitializeResponse,
  PROTOCOL_VERSION,
  RequestError,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  client,
  methods,
} from '@agentclientprotocol/sdk'
import { StintError } from '../../../journal/errors.ts'
import { oneLine, shorten } from '../../../text/clean.ts'
import { type Json, asObject, parseJson, asText } from '../../../text/json-fields.ts'
import type { ConversationOptions } from '../../contract/drive.ts'
import { type LimitReached, parseUsageLimit } from '../../contract/usage.ts'
import { type GuardedProcess, describeExit, spawnGuarded } from '../../process/spawn-guarded.ts'

export interface StartedAgent {
  readonly process: GuardedProcess
  readonly connection: ClientConnection
  readonly info: InitializeResponse
}

interface AgentHandlers {
  /** Called in order, before any response that came after the update. */
  readonly update: (params: Json) => void
  readonly permission: (request: RequestPermissionRequest) => Promise<RequestPermissionResponse>
}

/** Agents may install or update themselves before they answer. */
const START_TIMEOUT_MS = 180_000

export async function startAgent(
  program: AcpProgram,
  { cwd, env, wrap, trace }: Pick<ConversationOptions, 'cwd' | 'env' | 'wrap' | 'trace'>,
  { update, permission }: AgentHandlers,
): Promise<StartedAgent> {
  const { spawn = spawnGuarded } = program
  const process = spawn(program.command, program.args, { cwd, env, wrap })
  const connection = client({ name: 'stint' })
    .onRequest(methods.client.session.requestPermission, ({ params }) => permission(params))
    .onNotification('*', () => undefined)
    .connect(agentStream(process, update, trace))
  const info = await endAgentOnFailure(program, { process, connection }, () =>
    connection.agent.request(methods.agent.initialize, {
      protocolVersion: PROTOCOL_VERSION,
      clientInfo: { name: 'stint', version: '1' },
      clientCapabilities: { session: { compaction: {}, notices: {} } },
    }),
  )
  return { process, connection, info }
}

export async function endAgentOnFailure<T>(
  { name }: AcpProgram,
  { process, connection }: Omit<StartedAgent, 'info'>,
  step: () => Promise<T>,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`it has said nothing for ${START_TIMEOUT_MS / 1000} seconds`)),
      START_TIMEOUT_MS,
    )
  })
  try {
    return await Promise.race([step(), timeout])
  } catch (error) {
    const isGone = connection.signal.aborted
    await process.end(1000)
    if (error instanceof StintError) throw error
    const reason = isGone ? await describeExit(process) : failureMessage(error)
    throw new StintError(
      'HARNESS_NOT_STARTED',
      `${name} could not be started: ${reason}`,
      hintFor(error, isGone),
      { cause: error },
    )
  } finally {
    clearTimeout(timer)
  }
}

/** Where agents put the reason when the message is just "Internal error". */
const DETAILS = ['details', 'message', 'error', 'resetsAt']

export function failureMessage(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const data = error instanceof RequestError ? error.data : undefined
  const fields = asObject(data)
  const details = [data, ...DETAILS.map((name) => fields?.[name])].flatMap(
    (part) => asText(part) ?? [],
  )
  const parts = [
    message.replace(/^Internal error: */, ''),
    ...details.filter((part) => !message.includes(part)),
  ]
  return shorten(oneLine(parts.join(': ')), 2000)
}

export function limitFromError(error: unknown): LimitReached | undefined {
  const failure = failureMessage(error)
  const isLimit = error instanceof RequestError && asObject(error.data)?.errorKind === 'rate_limit'
  return parseUsageLimit(failure) ?? (isLimit ? { message: failure } : undefined)
}

function hintFor(error: unknown, isGone: boolean) {
  if (error instanceof RequestError && error.code === RequestError.authRequired().code)
    return 'log in with its own program first, then try again'
  return isGone
    ? 'run it by hand to see what is wrong with it'
    : 'see that it speaks the Agent Client Protocol, version 1'
}

/** Lines that are no messages are skipped: some agents print to standard output. */
function agentStream(
  agent: GuardedProcess,
  update: AgentHandlers['update'],
  trace: ConversationOptions['trace'],
) {
  let isOpen = true
  const readable = new ReadableStream<AnyMessage>({
    async start(controller) {
      for await (const line of agent.lines) {
        if (!isOpen) return
        trace?.('from', line)
        const message = asObject(parseJson(line))
        if (message?.method === 'session/update') update(asObject(message.params) ?? {})
        else if (message?.jsonrpc === '2.0') controller.enqueue(message as AnyMessage)
      }
      if (isOpen) controller.close()
    },
    cancel() {
      isOpen = false
    },
  })
  const writable = new WritableStream<AnyMessage>({
    write(message) {
      const line = JSON.stringify(message)
      trace?.('to', line)
      agent.stdin.write(`${line}\n`)
    },
  })
  return { readable, writable }
}

export interface AcpProgram {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  /** Starts the agent. An embedder may serve it in its own process. */
  readonly spawn?: typeof spawnGuarded
}
