import { LONGEST_SILENCE_SECONDS } from './settings.ts'
import { ModelFailure } from './model-failure.ts'

export class Silence {
  readonly signal: AbortSignal
  readonly #seconds: number
  readonly #ending = new AbortController()
  #timer: NodeJS.Timeout | undefined

  constructor(seconds: number | undefined, wanted: AbortSignal) {
    this.#seconds = seconds ?? LONGEST_SILENCE_SECONDS
    this.signal = AbortSignal.any([wanted, this.#ending.signal])
    this.heard()
  }

  heard(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#ending.abort(), this.#seconds * 1000)
  }

  over(): void {
    clearTimeout(this.#timer)
  }

  get failure(): ModelFailure | undefined {
    if (!this.#ending.signal.aborted) return undefined
    return new ModelFailure(
      'no',
      `the server said nothing for ${this.#seconds} seconds; api.silence_seconds is how long it may`,
    )
  }

  async *listen(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of bytes) {
      this.heard()
      yield piece
    }
  }
}
