// A server on loopback that replies as a test says, even badly: half a reply, none, a redirect.
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { Json } from '../../src/text/json-fields.ts'

export interface Seen {
  readonly headers: IncomingMessage['headers']
  readonly body: Json
}

export type ServerReply = (response: ServerResponse, seen: Seen) => void

export async function modelServer(
  ...replies: readonly ServerReply[]
): Promise<{ readonly url: string; readonly seen: readonly Seen[] }> {
  const seen: Seen[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString() || '{}') as Json
      seen.push({ headers: request.headers, body })
      const reply = replies[Math.min(seen.length, replies.length) - 1] ?? completeReply('ok')
      reply(response, seen.at(-1)!)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

export function refusing(
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): ServerReply {
  return (response) =>
    void response.writeHead(status, headers).end(JSON.stringify({ error: { message } }))
}

/** A complete reply of the Messages API. */
export function completeReply(
  text: string,
  tools: readonly Tool[] = [],
  stop = tools.length === 0 ? 'end_turn' : 'tool_use',
): ServerReply {
  return (response) => void begun(response, text).end(events(...endOf(tools, stop)))
}

export interface Tool {
  readonly name: string
  readonly input: object
}

/** The start of a reply, after which the connection breaks, ends or hangs. */
export function partialReply(text: string, then: 'breaks' | 'ends' | 'hangs'): ServerReply {
  return (response) => {
    begun(response, text)
    if (then === 'ends') response.end()
    if (then === 'breaks') setTimeout(() => response.destroy(), 10)
  }
}

function begun(response: ServerResponse, text: string): ServerResponse {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(
    events(
      {
        type: 'message_start',
        message: { id: 'msg', model: 'm', usage: { input_tokens: 1000, output_tokens: 1 } },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
    ),
  )
  return response
}

function endOf(tools: readonly Tool[], stop_reason: string): readonly object[] {
  const blocks = tools.flatMap(({ name, input }, at) => [
    {
      type: 'content_block_start',
      index: at + 1,
      content_block: { type: 'tool_use', id: `use_${at}`, name, input: {} },
    },
    {
      type: 'content_block_delta',
      index: at + 1,
      delta: { type: 'input_json_delta', partial_json: JSON.stringify(input) },
    },
  ])
  return [
    ...blocks,
    { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 10 } },
    { type: 'message_stop' },
  ]
}

function events(...all: readonly object[]): string {
  return all.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
}
