import { bar } from './bar.ts'

/** How often the line is written anew, in milliseconds. */
const EVERY = 100

/** How far a study has come, in one line that the next one replaces. */
export class StudyBar {
  readonly #write: (text: string) => void
  #drawnAt = -Infinity

  constructor(write: (text: string) => void) {
    this.#write = write
  }

  draw(share: number, what: string): void {
    const now = performance.now()
    if (now - this.#drawnAt < EVERY) return
    this.#drawnAt = now
    this.#write(`\r\u001B[K${bar(share)}  ${what}`)
  }

  clear(): void {
    this.#write('\r\u001B[K')
  }
}
