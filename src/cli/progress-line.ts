import type { Context } from './context.ts'

const WIDTH = 24
/** How often the line is written anew, in milliseconds. */
const EVERY = 100

/** A share as a bar of fixed width, and in percent. */
export function bar(share: number): string {
  const within = Math.min(1, Math.max(0, share))
  const done = Math.round(within * WIDTH)
  return `${'█'.repeat(done)}${'░'.repeat(WIDTH - done)} ${Math.floor(within * 100)} %`
}

/** How far something has come, in one line that the next one replaces. */
export class ProgressLine {
  readonly #write: (text: string) => void
  #drawnAt = -Infinity

  /** On a terminal only. */
  static on({ canAsk, process: { stderr } }: Context): ProgressLine | undefined {
    return canAsk ? new ProgressLine((text) => stderr.write(text)) : undefined
  }

  constructor(write: (text: string) => void) {
    this.#write = write
  }

  draw(text: () => string): void {
    const now = performance.now()
    if (now - this.#drawnAt < EVERY) return
    this.#drawnAt = now
    this.#write(`\r\u001B[K${text()}`)
  }

  clear(): void {
    this.#write('\r\u001B[K')
  }
}
