const FIRST = 16 * 1024
const NEWLINE = 0x0a
/** Of a character of a string, in UTF-8. */
const MOST_BYTES = 3

/** Lines on their way to a file, as bytes: what they were made of need not be remembered until they are written. */
export class LineBatch {
  #buffer = Buffer.allocUnsafe(FIRST)
  #length = 0

  add(line: string): void {
    const most = this.#length + line.length * MOST_BYTES + 1
    if (most > this.#buffer.length) this.#grow(most)
    this.#length += this.#buffer.write(line, this.#length)
    this.#buffer[this.#length] = NEWLINE
    this.#length += 1
  }

  /** All of them, in memory that the next line uses again. */
  take(): Buffer {
    const bytes = this.#buffer.subarray(0, this.#length)
    this.#length = 0
    return bytes
  }

  #grow(most: number): void {
    const longer = Buffer.allocUnsafe(Math.max(most, this.#buffer.length * 2))
    this.#buffer.copy(longer, 0, 0, this.#length)
    this.#buffer = longer
  }
}
