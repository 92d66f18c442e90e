export interface ServerSentEvent {
  readonly event: string
  readonly data: string
}

const LONGEST_LINE = 16 * 1024 * 1024

/** An event that was cut off is dropped: half of it may look whole. */
export async function* serverSentEvents(
  bytes: AsyncIterable<Uint8Array>,
  longest = LONGEST_LINE,
): AsyncGenerator<ServerSentEvent, void, undefined> {
  let event = ''
  let data: string[] = []
  for await (const line of linesOf(bytes, longest)) {
    if (line === '') {
      if (data.length > 0) yield { event, data: data.join('\n') }
      event = ''
      data = []
      continue
    }
    const [, name = '', value = ''] = /^([^:]*)(?:: ?)?([^]*)$/.exec(line) ?? []
    if (name === 'data') data.push(value)
    else if (name === 'event') event = value
  }
}

async function* linesOf(
  bytes: AsyncIterable<Uint8Array>,
  longest: number,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of bytes) {
    rest += decoder.decode(piece, { stream: true })
    // A CR at the end may be half of a CRLF.
    const lines = rest.split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop()!
    yield* lines
    if (rest.length > longest)
      throw new Error(`a line of the stream is longer than ${longest} characters`)
  }
  if (rest.endsWith('\r')) yield rest.slice(0, -1)
}
