import type { ImportProgress } from '../project/import/contract.ts'
import { bar } from './bar.ts'
import { size } from './size.ts'

/** How often the line is written anew, in milliseconds. */
const EVERY = 100

/** How far an import has come, in one line that the next one replaces. */
export class ImportBar {
  readonly #write: (text: string) => void
  #startedAt = performance.now()
  #drawnAt = -Infinity
  #isIndexing = false

  constructor(write: (text: string) => void) {
    this.#write = write
  }

  draw(progress: ImportProgress): void {
    const now = performance.now()
    if (this.#isIndexing !== (progress.isIndexing === true)) {
      this.#isIndexing = progress.isIndexing === true
      this.#startedAt = now
    }
    if (now - this.#drawnAt < EVERY) return
    this.#drawnAt = now
    this.#write(`\r\u001B[K${barLine(progress, (now - this.#startedAt) / 1000)}`)
  }

  clear(): void {
    this.#write('\r\u001B[K')
  }
}

export function barLine(
  { bytes, totalBytes, files, totalFiles, isIndexing }: ImportProgress,
  seconds: number,
): string {
  const share = totalBytes === 0 ? 1 : bytes / totalBytes
  const rate = seconds <= 0 ? '' : `  ${size(bytes / seconds)}/s`
  const what = isIndexing === true ? 'made searchable' : `${files}/${totalFiles} files`
  return `${bar(share)}  ${size(bytes)} of ${size(totalBytes)}${rate}  ${what}`
}
