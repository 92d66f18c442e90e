const LONGEST_LINE = 64 * 1024 * 1024

/** Split at LF alone; of a line beyond the bound only the beginning is kept, to limit memory. */
export async function* linesOf(
  bytes: AsyncIterable<Uint8Array>,
  longest = LONGEST_LINE,
): AsyncGenerator<string> {
  let pieces: Uint8Array[] = []
  let length = 0
  const keep = (piece: Uint8Array) => {
    const kept = piece.subarray(0, longest - length)
    if (kept.length > 0) pieces.push(kept)
    length += kept.length
  }
  const take = () => {
    const line = Buffer.concat(pieces).toString('utf8')
    pieces = []
    length = 0
    return line
  }
  for await (const chunk of bytes) {
    let from = 0
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      keep(chunk.subarray(from, at))
      from = at + 1
      yield take()
    }
    keep(chunk.subarray(from))
  }
  if (length > 0) yield take()
}
