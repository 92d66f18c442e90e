type Stream = 'stdout' | 'stderr'

const NEWLINE = 0x0a
/** A line without end is passed on in pieces. */
const LONGEST = 65_536

/** Joins the two outputs of a command line by line, in the order in which they come, so that no line is torn by another. */
export class WholeLines {
  readonly #emit: (lines: Buffer) => void
  readonly #held: Record<Stream, Buffer> = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) }

  constructor(emit: (lines: Buffer) => void) {
    this.#emit = emit
  }

  add(stream: Stream, bytes: Buffer): void {
    const held = this.#held[stream]
    const all = held.length === 0 ? bytes : Buffer.concat([held, bytes])
    const end = all.lastIndexOf(NEWLINE) + 1 || (all.length > LONGEST ? wholeCharacters(all) : 0)
    this.#held[stream] = Buffer.from(all.subarray(end))
    if (end > 0) this.#emit(all.subarray(0, end))
  }

  /** Passes on what did not end in a newline. */
  end(): void {
    const rests = [this.#held.stdout, this.#held.stderr].filter(({ length }) => length > 0)
    for (const [index, rest] of rests.entries()) {
      this.#emit(index === 0 ? rest : Buffer.concat([Buffer.from('\n'), rest]))
    }
  }
}

/** The length without a character that goes on in the next piece. */
function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= 4; back += 1) {
    const byte = bytes[bytes.length - back]!
    const isFirst = (byte & 0b1100_0000) === 0b1100_0000
    if (isFirst) return bytes.length - back
    if (byte < 0b1000_0000) break
  }
  return bytes.length
}
