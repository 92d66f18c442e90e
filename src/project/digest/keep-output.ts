import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { OutputReader, type Reading } from '../../command/digest/read-output.ts'
import { errnoOf } from '../../journal/errors.ts'
import { GrowingFile } from '../../journal/files.ts'
import { statOrUndefined } from '../../journal/look.ts'
import { type RedactOptions, redact } from '../../text/redact.ts'
import { SafeCuts } from '../../text/safe-cuts.ts'
import { redaction } from '../store/clean-draft.ts'
import type { Config } from '../config/config.ts'
import { prepareArtifacts } from './artifacts.ts'
import { defined } from '../../text/defined.ts'

type Encoding = 'utf8' | 'latin1'

export interface Kept {
  readonly reading: Reading
  readonly bytes: number
  readonly path?: string
  readonly problem?: string
  readonly redacted: readonly string[]
}

/**
 * Holds a window of the output, never all. The file is named by content, so equal outputs are kept
 * once.
 */
export class OutputKeeper {
  readonly #folder: string
  readonly #options: RedactOptions
  readonly #redacted = new Set<string>()
  readonly #reader: OutputReader
  readonly #hash = createHash('sha256')
  readonly #cuts: SafeCuts
  #encoding: Encoding = 'utf8'
  #bytes = 0
  #file: GrowingFile | undefined
  #problem: string | undefined

  constructor(folder: string, config: Config, base: string) {
    this.#folder = folder
    this.#reader = new OutputReader(base)
    this.#options = redaction(config)
    this.#cuts = new SafeCuts((text) => redact(text, this.#options).text)
    this.#attempt(() => {
      prepareArtifacts(folder)
      this.#file = new GrowingFile(folder)
    })
  }

  add(bytes: Buffer): void {
    // Bytes that are not text round-trip as latin1.
    const encoding = isUtf8(bytes) ? 'utf8' : 'latin1'
    if (encoding !== this.#encoding) this.#take(this.#cuts.rest())
    this.#encoding = encoding
    this.#take(this.#cuts.add(bytes.toString(encoding)))
  }

  discard(): void {
    this.#file?.discard()
    this.#file = undefined
  }

  finish(): Kept {
    this.#take(this.#cuts.rest())
    const reading = this.#reader.finish()
    const path = this.#name()
    return {
      reading,
      bytes: this.#bytes,
      redacted: [...this.#redacted],
      ...defined({ path, problem: this.#problem }),
    }
  }

  #take(piece: string): void {
    if (piece === '') return
    const { text, found } = redact(piece, this.#options)
    for (const kind of found) this.#redacted.add(kind)
    const bytes = Buffer.from(text, this.#encoding)
    this.#bytes += bytes.length
    this.#hash.update(bytes)
    this.#reader.add(text)
    this.#attempt(() => this.#file?.write(bytes))
  }

  #name(): string | undefined {
    const name = this.#hash.digest('hex').slice(0, 16)
    let path: string | undefined
    this.#attempt(() => {
      const file = this.#file
      this.#file = undefined
      if (file === undefined) return
      path = freeName(this.#folder, name, this.#bytes)
      file.keepAs(path)
    })
    return this.#problem === undefined ? path : undefined
  }

  /** A full disk must not stop the command. */
  #attempt(work: () => void): void {
    if (this.#problem !== undefined) return
    try {
      work()
    } catch (error) {
      if (errnoOf(error) === undefined) throw error
      this.#problem = (error as Error).message
      this.#file?.discard()
      this.#file = undefined
    }
  }
}

/** A file of that name with another size was changed since, as by a purge. */
function freeName(folder: string, name: string, bytes: number): string {
  for (let number = 1; ; number += 1) {
    const path = join(folder, `${name}${number === 1 ? '' : `-${number}`}.txt`)
    const known = statOrUndefined(path)
    if (known === undefined || known.size === bytes) return path
  }
}
