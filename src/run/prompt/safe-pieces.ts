import { withoutControls } from '../../text/clean.ts'
import { type RedactOptions, redact } from '../../text/redact.ts'

/** A line that is longer is told in pieces that know nothing of each other. */
const LONGEST_LINE = 4000
const KEY = /-----BEGIN /

/**
 * Pieces of a message as they may be told: never half a word, which might be half a secret, and never more of a line than
 * what stays the same once its secrets are taken out. The whole message follows, so that nothing is lost by holding back.
 */
export class SafePieces {
  readonly #secrets: RedactOptions
  #line = ''
  /** What was told of the line. */
  #told = ''
  #isHeldBack = false

  constructor(secrets: RedactOptions) {
    this.#secrets = secrets
  }

  /** What may be told now that this has come. */
  take(piece: string): string {
    this.#line += piece
    // A private key goes over many lines.
    if (KEY.test(this.#line)) this.#isHeldBack = true
    if (this.#isHeldBack) return ''
    let safe = ''
    for (let end = this.#line.indexOf('\n'); end !== -1; end = this.#line.indexOf('\n')) {
      safe += this.#beyond(this.#line.slice(0, end + 1))
      this.#line = this.#line.slice(end + 1)
      this.#told = ''
    }
    safe += this.#beyond(this.#line.slice(0, this.#line.search(/\S*$/)))
    if (this.#line.length <= LONGEST_LINE) return safe
    safe += this.#beyond(this.#line)
    this.next()
    return safe
  }

  /** Another message begins. */
  next(): void {
    this.#line = ''
    this.#told = ''
    this.#isHeldBack = false
  }

  #beyond(text: string): string {
    const safe = redact(withoutControls(text), this.#secrets).text
    if (!safe.startsWith(this.#told)) return ''
    const more = safe.slice(this.#told.length)
    this.#told = safe
    return more
  }
}
