import type { HarnessEvent } from './drive.ts'

export class EventQueue implements AsyncIterable<HarnessEvent> {
  readonly #events: HarnessEvent[] = []
  #isOver = false
  #wake: (() => void) | undefined

  push(...events: readonly HarnessEvent[]): void {
    for (const event of events) {
      if (this.#isOver) return
      this.#events.push(event)
      this.#isOver = event.type === 'turn ended'
    }
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<HarnessEvent> {
    for (;;) {
      const event = this.#events.shift()
      if (event !== undefined) yield event
      else if (this.#isOver) return
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}
