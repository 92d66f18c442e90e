import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What the model replies next. Several tools are used in one message. */
export interface Reply {
  readonly text?: string
  /** The thinking before it. */
  readonly thinking?: { readonly text: string; readonly signature: string }
  readonly tools?: readonly {
    readonly name: string
    readonly input: Readonly<Record<string, unknown>>
  }[]
  /** Input tokens that the reply reports. */
  readonly inputTokens?: number
  /** The rest of the usage it reports. */
  readonly cacheWritten?: number
  readonly cacheRead?: number
  readonly outputTokens?: number
  readonly error?: {
    readonly status: number
    readonly type: string
    readonly message: string
    readonly headers?: Readonly<Record<string, string>>
  }
  /** The reply waits for this promise. */
  readonly after?: Promise<unknown>
  /** Called when the request arrives. */
  readonly before?: () => void
  /** Repeated as long as the same request comes again: harnesses retry. */
  readonly isRepeated?: boolean
  /** All following replies report this usage too, until the harness has compacted. */
  readonly isFull?: boolean
}

export interface SeenRequest {
  readonly kind: 'turn' | 'summary' | 'other'
  readonly body: MessagesBody
  /** The betas that the request names. */
  readonly betas: readonly string[]
  /** Everything the model would have read, as one text. */
  readonly text: string
}

export interface MessagesBody {
  readonly model: string
  readonly stream?: boolean
  readonly tools?: readonly { readonly name: string }[]
  readonly system?: unknown
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
}

const SUMMARY =
  '<analysis>short</analysis><summary>The conversation so far was about the work at hand.</summary>'

/**
 * A Messages API and a chat completions API on loopback that reply as a test scripts and store
 * every request. They replace only the model.
 */
export class ModelStub {
  readonly requests: SeenRequest[] = []
  readonly #queue: Reply[] = []
  #summary = SUMMARY
  #server = createServer((request, response) => void this.#serve(request, response))
  #count = 0
  #full: Partial<Reply> | undefined
  #repeated: { readonly asked: string; readonly reply: Reply } | undefined
  #reply: ((seen: SeenRequest) => Reply) | undefined
  readonly #spent = { input: 0, cacheWritten: 0, cacheRead: 0, output: 0 }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return this
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** The replies to the next requests of a turn, one each; after that it replies `ok`. */
  script(...replies: readonly Reply[]): void {
    this.#queue.push(...replies)
  }

  /** Computes the reply to each request of a turn, instead of a script. */
  answerBy(answer: (seen: SeenRequest) => Reply): void {
    this.#reply = answer
  }

  /** The reply to the harness's request to summarise. */
  summarise(text: string): void {
    this.#summary = text
  }

  /** The total usage that all replies reported. */
  get spent(): Readonly<Record<'input' | 'cacheWritten' | 'cacheRead' | 'output', number>> {
    return this.#spent
  }

  /** The requests that were turns of a conversation, not the harness's own calls. */
  get turns(): readonly SeenRequest[] {
    return this.requests.filter(({ kind }) => kind === 'turn')
  }

  get summaries(): readonly SeenRequest[] {
    return this.requests.filter(({ kind }) => kind === 'summary')
  }

  forget(): void {
    this.requests.length = 0
    this.#queue.length = 0
    this.#repeated = undefined
    this.#full = undefined
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const path = request.url ?? ''
    if (request.method !== 'POST') return void response.writeHead(200).end('{}')
    if (path.includes('count_tokens')) return void json(response, 200, { input_tokens: 100 })
    const isChat = path === '/v1/chat/completions'
    if (!isChat && !path.startsWith('/v1/messages'))
      return void json(response, 404, { type: 'error', error: { type: 'not_found_error' } })
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as MessagesBody
    const seen = {
      kind: kindOf(body),
      body,
      betas: betasOf(request),
      text: textOf([body.system, body.messages]),
    }
    this.requests.push(seen)
    const reply = this.#replyTo(seen)
    reply.before?.()
    await reply.after
    if (reply.error !== undefined) {
      const { status, type, message, headers } = reply.error
      return void json(response, status, { type: 'error', error: { type, message } }, headers)
    }
    this.#count += 1
    const message = messageOf(reply, body, this.#count)
    this.#spent.input += message.usage.input_tokens
    this.#spent.cacheWritten += message.usage.cache_creation_input_tokens
    this.#spent.cacheRead += message.usage.cache_read_input_tokens
    this.#spent.output += message.usage.output_tokens
    if (body.stream !== true) return void json(response, 200, message)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    if (isChat)
      for (const chunk of chunksOf(message)) response.write(`data: ${JSON.stringify(chunk)}\n\n`)
    else
      for (const event of eventsOf(message))
        response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    response.end(isChat ? 'data: [DONE]\n\n' : '')
  }

  #replyTo(seen: SeenRequest): Reply {
    if (seen.kind === 'summary') {
      this.#full = undefined
      return { text: this.#summary, inputTokens: 5_000 }
    }
    if (seen.kind === 'other') return { text: 'ok' }
    if (this.#reply !== undefined) return this.#reply(seen)
    // The harness's own additions change from one retry to the next.
    const asked = textOf(seen.body.messages.filter(({ role }) => role !== 'system'))
    if (this.#repeated?.asked === asked) return this.#repeated.reply
    const reply = this.#queue.shift() ?? { text: 'ok' }
    this.#repeated = reply.isRepeated === true ? { asked, reply } : undefined
    const { inputTokens = 0, cacheRead = 0, cacheWritten = 0 } = reply
    if (reply.isFull === true) this.#full = { inputTokens, cacheRead, cacheWritten }
    return { ...reply, ...this.#full }
  }
}

// Old versions warm up and name conversations with small calls without tools.
function kindOf(body: MessagesBody): SeenRequest['kind'] {
  const last = textOf(body.messages.at(-1))
  // Injected hook context may follow the harness's request to summarise.
  if (textOf(body.messages.slice(-3)).includes('create a detailed summary of')) return 'summary'
  return (body.tools?.length ?? 0) > 0 && !/^(?:Warmup|quota)$/.test(last.trim()) ? 'turn' : 'other'
}

function betasOf({ headers }: IncomingMessage): readonly string[] {
  return [headers['anthropic-beta'] ?? []]
    .flat()
    .flatMap((value) => value.split(',').map((beta) => beta.trim()))
}

/** All texts in a value, in order. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(textOf).join('\n')
  if (typeof value !== 'object' || value === null) return ''
  return Object.entries(value)
    .filter(([key]) => !['type', 'role', 'id', 'tool_use_id', 'cache_control'].includes(key))
    .map(([, field]) => textOf(field))
    .join('\n')
}

type ContentBlock =
  | { type: 'text'; text: string }
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'tool_use'; id: string; name: string; input: object }

function messageOf(reply: Reply, { model }: MessagesBody, count: number) {
  const tools = (reply.tools ?? []).map(({ name, input }, index): ContentBlock => ({
    type: 'tool_use',
    id: `toolu_${count}_${index}`,
    name,
    input,
  }))
  const text: ContentBlock[] =
    reply.text === undefined && tools.length > 0 ? [] : [{ type: 'text', text: reply.text ?? 'ok' }]
  const { thinking } = reply
  const thought: ContentBlock[] =
    thinking === undefined
      ? []
      : [{ type: 'thinking', thinking: thinking.text, signature: thinking.signature }]
  return {
    id: `msg_${count}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [...thought, ...text, ...tools],
    stop_reason: tools.length > 0 ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: {
      input_tokens: reply.inputTokens ?? 100,
      cache_creation_input_tokens: reply.cacheWritten ?? 0,
      cache_read_input_tokens: reply.cacheRead ?? 0,
      output_tokens: reply.outputTokens ?? 20,
    },
  }
}

function* eventsOf(
  message: ReturnType<typeof messageOf>,
): Generator<{ type: string } & Record<string, unknown>> {
  const { content, stop_reason, usage } = message
  const start = {
    ...message,
    content: [],
    stop_reason: null,
    usage: { ...usage, output_tokens: 1 },
  }
  yield { type: 'message_start', message: start }
  for (const [index, block] of content.entries()) {
    yield { type: 'content_block_start', index, content_block: emptied(block) }
    for (const delta of deltasOf(block)) yield { type: 'content_block_delta', index, delta }
    yield { type: 'content_block_stop', index }
  }
  yield { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage }
  yield { type: 'message_stop' }
}

function emptied(block: ContentBlock): ContentBlock {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: '' }
    case 'thinking':
      return { type: 'thinking', thinking: '', signature: '' }
    case 'tool_use':
      return { ...block, input: {} }
  }
}

function deltasOf(block: ContentBlock): readonly object[] {
  switch (block.type) {
    case 'text':
      return [{ type: 'text_delta', text: block.text }]
    case 'thinking':
      return [
        { type: 'thinking_delta', thinking: block.thinking },
        { type: 'signature_delta', signature: block.signature },
      ]
    case 'tool_use':
      return [{ type: 'input_json_delta', partial_json: JSON.stringify(block.input) }]
  }
}

/** The same message, streamed as a chat completion. */
function* chunksOf({
  id,
  model,
  content,
  usage,
  stop_reason,
}: ReturnType<typeof messageOf>): Generator<object> {
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    id,
    model,
    choices: [{ index: 0, delta, finish_reason }],
  })
  yield chunk({ role: 'assistant', content: '' })
  let index = 0
  for (const block of content) {
    if (block.type === 'text') yield chunk({ content: block.text })
    else if (block.type === 'thinking') yield chunk({ reasoning_content: block.thinking })
    else {
      const { id: call, name, input } = block
      yield chunk({
        tool_calls: [{ index, id: call, type: 'function', function: { name, arguments: '' } }],
      })
      yield chunk({ tool_calls: [{ index, function: { arguments: JSON.stringify(input) } }] })
      index += 1
    }
  }
  yield chunk({}, stop_reason === 'tool_use' ? 'tool_calls' : 'stop')
  const {
    input_tokens: plain,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: written,
    output_tokens,
  } = usage
  const details = { cached_tokens: cached, cache_write_tokens: written }
  const counts = {
    prompt_tokens: plain + cached + written,
    completion_tokens: output_tokens,
    prompt_tokens_details: details,
  }
  yield { id, model, choices: [], usage: counts }
}

function json(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response
    .writeHead(status, { 'content-type': 'application/json', ...headers })
    .end(JSON.stringify(value))
}
