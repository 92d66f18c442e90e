// The form in which both providers stream: fields on lines, an empty line behind each event. Bytes may be split anywhere, in the
// middle of a character or between the two halves of a line end.

export interface ServerSentEvent {
  readonly event: string
  readonly data: string
}

/** More than any event of a model. Beyond it, it is no stream of events at all. */
const LONGEST_LINE = 16 * 1024 * 1024

/** The whole events of a stream. One that was cut off is not given: half of it may look like all of it. */
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

/** Lines that were ended, by CR, LF or both. */
async function* linesOf(
  bytes: AsyncIterable<Uint8Array>,
  longest: number,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of bytes) {
    rest += decoder.decode(piece, { stream: true })
    // A CR at the very end may be one half of a line end, so that it waits for what follows.
    const lines = rest.split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop()!
    yield* lines
    if (rest.length > longest)
      throw new Error(`a line of the stream is longer than ${longest} characters`)
  }
  if (rest.endsWith('\r')) yield rest.slice(0, -1)
}
