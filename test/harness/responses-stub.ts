import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { textOf } from './model-stub.ts'

/** What the model replies next. */
export interface ResponsesReply {
  readonly text?: string
  readonly tools?: readonly ResponsesTool[]
  /** Input tokens that the reply reports, including cached ones. */
  readonly inputTokens?: number
  readonly cachedTokens?: number
  readonly outputTokens?: number
  readonly error?: {
    readonly status: number
    readonly body: unknown
    readonly headers?: Readonly<Record<string, string>>
  }
  /** Called when the request arrives. */
  readonly arrived?: () => void
  /** The reply waits for this promise. */
  readonly after?: Promise<unknown>
}

/** A tool with named arguments, possibly one of a group. */
export interface ResponsesTool {
  readonly name: string
  readonly namespace?: string
  readonly input: Readonly<Record<string, unknown>>
}

export interface SeenResponsesRequest {
  readonly kind: 'turn' | 'summary'
  readonly body: ResponsesBody
  /** Everything the model would have read, as one text. */
  readonly text: string
}

export interface ResponsesBody {
  readonly model: string
  readonly instructions?: string
  readonly input: readonly {
    readonly type?: string
    readonly role?: string
    readonly content?: unknown
    readonly output?: unknown
  }[]
  readonly tools?: readonly { readonly name?: string; readonly type?: string }[]
}

/**
 * A Responses API on loopback that replies as a test scripts and stores every request. It replaces
 * only the model.
 */
export class ResponsesStub {
  readonly requests: SeenResponsesRequest[] = []
  readonly #queue: ResponsesReply[] = []
  readonly #whenever: { fits: (body: ResponsesBody) => boolean; replies: ResponsesReply[] }[] = []
  readonly #server = createServer((request, response) => void this.#serve(request, response))
  #summary = 'The conversation so far was about the work at hand.'
  #otherwise: (body: ResponsesBody) => ResponsesReply = () => ({ text: 'ok' })
  #count = 0

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return this
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`
  }

  /** The replies to the next requests of a turn, one each; after that it replies `ok`. */
  script(...replies: readonly ResponsesReply[]): void {
    this.#queue.push(...replies)
  }

  /** Replies to matching requests out of order: concurrent requests have no order. */
  whenever(fits: (body: ResponsesBody) => boolean, ...replies: readonly ResponsesReply[]): void {
    this.#whenever.push({ fits, replies: [...replies] })
  }

  /** The reply to the harness's request to summarise. */
  summarise(text: string): void {
    this.#summary = text
  }

  /** Computes the reply to each request where nothing is scripted. */
  answerBy(answer: (body: ResponsesBody) => ResponsesReply): void {
    this.#otherwise = answer
  }

  get turns(): readonly SeenResponsesRequest[] {
    return this.requests.filter(({ kind }) => kind === 'turn')
  }

  get summaries(): readonly SeenResponsesRequest[] {
    return this.requests.filter(({ kind }) => kind === 'summary')
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #replyTo(body: ResponsesBody): ResponsesReply {
    const queue = this.#whenever.find(({ fits }) => fits(body))?.replies ?? this.#queue
    return queue.shift() ?? this.#otherwise(body)
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    if (request.method !== 'POST' || request.url?.endsWith('/responses') !== true)
      return void response.writeHead(404).end('{}')
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as ResponsesBody
    const kind = textOf(body.input.at(-1)).includes(SUMMARY_REQUEST) ? 'summary' : 'turn'
    this.requests.push({ kind, body, text: textOf([body.instructions, body.input]) })
    const reply =
      kind === 'summary' ? { text: this.#summary, inputTokens: 5000 } : this.#replyTo(body)
    reply.arrived?.()
    await reply.after
    if (reply.error !== undefined) {
      const { status, headers } = reply.error
      return void response
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(JSON.stringify(reply.error.body))
    }
    this.#count += 1
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of eventsOf(reply, this.#count))
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    response.end()
  }
}

const SUMMARY_REQUEST = 'CONTEXT CHECKPOINT COMPACTION'

function* eventsOf(
  reply: ResponsesReply,
  count: number,
): Generator<{ type: string } & Record<string, unknown>> {
  const id = `resp_${count}`
  yield { type: 'response.created', response: { id } }
  for (const [index, item] of itemsOf(reply, count).entries()) {
    yield { type: 'response.output_item.added', output_index: index, item }
    // Like a streaming model: one delta is enough.
    if ('content' in item)
      yield { type: 'response.output_text.delta', output_index: index, delta: reply.text ?? 'ok' }
    yield { type: 'response.output_item.done', output_index: index, item }
  }
  const [input, output] = [reply.inputTokens ?? 100, reply.outputTokens ?? 20]
  const usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: reply.cachedTokens ?? 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  }
  yield { type: 'response.completed', response: { id, usage } }
}

function itemsOf({ text, tools = [] }: ResponsesReply, count: number): readonly object[] {
  const replyText = text ?? (tools.length === 0 ? 'ok' : undefined)
  const content = [{ type: 'output_text', text: replyText, annotations: [] }]
  const message = {
    type: 'message',
    id: `msg_${count}`,
    role: 'assistant',
    status: 'completed',
    content,
  }
  const calls = tools.map(({ input, ...tool }, index) => ({
    type: 'function_call',
    id: `fc_${count}_${index}`,
    call_id: `call_${count}_${index}`,
    ...tool,
    arguments: JSON.stringify(input),
    status: 'completed',
  }))
  return replyText === undefined ? calls : [message, ...calls]
}
