// The program as one file of many pieces. A command loads the pieces that it needs, with the code that V8 compiled for them when the same command
// ran before.
import { openSync, readSync } from 'node:fs'
import { Script, constants } from 'node:vm'
import { compiledCachePath, readCompiled } from './load-compiled.ts'

/** Where each piece begins, and how long it is. */
type Index = Readonly<Record<string, readonly [start: number, length: number]>>

type Piece = (
  exports: object,
  require: (id: string) => unknown,
  folder: string,
  filename: string,
) => void

/** The first bytes of a pack say how long its index is. */
const PREFIX = 8

export class ProgramBundle {
  /** Open until the process ends: a piece may be asked for at any time. */
  readonly #fd: number
  readonly #index: Index
  readonly #codeStart: number
  readonly #filename: string
  readonly #cache: string
  readonly #compiled: ReadonlyMap<string, Buffer>
  readonly #loaded = new Map<string, { readonly exports: object; readonly script: Script }>()
  #isAllCompiled = true

  /** The file's name has a sum of its content in it. `use` is the command, because V8 compiles only what is called. */
  constructor(file: string, use: string) {
    this.#filename = `${__dirname}/${file}`
    this.#fd = openSync(this.#filename, 'r')
    const indexLength = Number.parseInt(this.#read(0, PREFIX), 10)
    this.#index = JSON.parse(this.#read(PREFIX, indexLength)) as Index
    this.#codeStart = PREFIX + indexLength
    this.#cache = compiledCachePath(`${file}.${use}`)
    this.#compiled = piecesIn(readCompiled(this.#cache))
  }

  load(name: string): object {
    const known = this.#loaded.get(name)
    if (known !== undefined) return known.exports
    const [start, length] = this.#index[name]!
    const cachedData = this.#compiled.get(name)
    const script = new Script(this.#read(this.#codeStart + start, length), {
      filename: `${this.#filename}/${name}`,
      cachedData,
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    })
    if (cachedData === undefined || script.cachedDataRejected !== false) this.#isAllCompiled = false
    const exports = {}
    this.#loaded.set(name, { exports, script })
    const load = (id: string): unknown =>
      id.startsWith('.') ? this.load(id.slice(id.lastIndexOf('/') + 1)) : require(id)
    ;(script.runInThisContext() as Piece)(exports, load, __dirname, this.#filename)
    return exports
  }

  /** Keeps what V8 has compiled by now, for the next time. */
  async keep(): Promise<void> {
    if (this.#isAllCompiled) return
    const pieces = new Map(this.#compiled)
    for (const [name, { script }] of this.#loaded) pieces.set(name, script.createCachedData())
    const index = JSON.stringify([...pieces].map(([name, code]) => [name, code.length]))
    const head = Buffer.from(`${String(index.length).padEnd(PREFIX)}${index}`)
    const { cacheCompiled } = await import('./start/cache-compiled.ts')
    cacheCompiled(this.#cache, Buffer.concat([head, ...pieces.values()]))
  }

  // The build leaves nothing but ASCII in it, and V8 takes such a text as it is.
  #read(start: number, length: number): string {
    const bytes = Buffer.allocUnsafe(length)
    readSync(this.#fd, bytes, 0, length, start)
    return bytes.toString('latin1')
  }
}

function piecesIn(compiled: Buffer | undefined): ReadonlyMap<string, Buffer> {
  if (compiled === undefined) return new Map()
  const indexLength = Number.parseInt(compiled.toString('latin1', 0, PREFIX), 10)
  const index = JSON.parse(compiled.toString('latin1', PREFIX, PREFIX + indexLength)) as [
    string,
    number,
  ][]
  let start = PREFIX + indexLength
  return new Map(index.map(([name, length]) => [name, compiled.subarray(start, (start += length))]))
}
