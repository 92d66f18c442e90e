import { line } from '../text.ts'
import type { RunEvent } from '../../run/events.ts'
import { finishedLines } from './finished-lines.ts'
import { frame } from './frame.ts'
import { LiveBlock, type Terminal } from './live-block.ts'
import { NOTHING_YET, type RunState, afterEvent } from './state.ts'
import type { RunView } from './view.ts'

/** A run drawn in place, with what is finished above. */
export class LiveView implements RunView {
  readonly #block: LiveBlock
  readonly #color: boolean
  #state: RunState = NOTHING_YET

  constructor(
    terminal: Terminal,
    { color, now = Date.now }: { color: boolean; now?: () => number },
  ) {
    this.#color = color
    this.#block = new LiveBlock(terminal, (size) => frame(this.#state, { ...size, color }), now)
  }

  take(event: RunEvent): void {
    this.#state = afterEvent(this.#state, event)
    this.#block.keep(...finishedLines(event, { columns: this.#block.columns, color: this.#color }))
  }

  say(text: string): void {
    this.#block.keep(`stint: ${line(text, 1000)}`)
  }

  pause(): void {
    this.#block.pause()
  }

  resume(): void {
    this.#block.resume()
  }

  end(): void {
    this.pause()
  }
}
