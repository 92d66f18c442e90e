// The program as one file of many chunks. A command loads the chunks it needs, with the code that
// V8 cached when the same command ran before.
import { openSync, readSync } from 'node:fs'
import { Script, constants } from 'node:vm'
import { compiledCachePath, readCompiled } from './load-compiled.ts'

/** Offset and length of each chunk. */
type Index = Readonly<Record<string, readonly [start: number, length: number]>>

type Chunk = (
  exports: object,
  require: (id: string) => unknown,
  folder: string,
  filename: string,
) => void

/** The file starts with the length of its index. */
const PREFIX_BYTES = 8

export class ProgramBundle {
  /** Stays open: a chunk may be loaded at any time. */
  readonly #fd: number
  readonly #index: Index
  readonly #codeStart: number
  readonly #filename: string
  readonly #cache: string
  readonly #compiled: ReadonlyMap<string, Uint8Array>
  readonly #loaded = new Map<string, { readonly exports: object; readonly script: Script }>()
  #isAllCompiled = true

  /**
   * The file name contains a hash of its content. `use` is the command, because V8 compiles only
   * what is called.
   */
  constructor(file: string, use: string) {
    this.#filename = `${__dirname}/${file}`
    this.#fd = openSync(this.#filename, 'r')
    const indexLength = Number.parseInt(this.#read(0, PREFIX_BYTES), 10)
    this.#index = JSON.parse(this.#read(PREFIX_BYTES, indexLength)) as Index
    this.#codeStart = PREFIX_BYTES + indexLength
    this.#cache = compiledCachePath(`${file}.${use}`)
    this.#compiled = chunksIn(readCompiled(this.#cache))
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
    ;(script.runInThisContext() as Chunk)(exports, load, __dirname, this.#filename)
    return exports
  }

  /** Caches the code compiled so far. */
  async cache(): Promise<void> {
    if (this.#isAllCompiled) return
    const chunks = new Map(this.#compiled)
    for (const [name, { script }] of this.#loaded) chunks.set(name, script.createCachedData())
    const index = JSON.stringify([...chunks].map(([name, code]) => [name, code.length]))
    const head = Buffer.from(`${String(index.length).padEnd(PREFIX_BYTES)}${index}`)
    const { cacheCompiled } = await import('./start/cache-compiled.ts')
    cacheCompiled(this.#cache, Buffer.concat([head, ...chunks.values()]))
  }

  // The build emits pure ASCII, which V8 takes without conversion.
  #read(start: number, length: number): string {
    const bytes = Buffer.allocUnsafe(length)
    readSync(this.#fd, bytes, 0, length, start)
    return bytes.toString('latin1')
  }
}

function chunksIn(compiled: Uint8Array | undefined): ReadonlyMap<string, Uint8Array> {
  if (compiled === undefined) return new Map()
  const bytes = Buffer.from(compiled.buffer, compiled.byteOffset, compiled.length)
  const indexLength = Number.parseInt(bytes.toString('latin1', 0, PREFIX_BYTES), 10)
  const index = JSON.parse(bytes.toString('latin1', PREFIX_BYTES, PREFIX_BYTES + indexLength)) as [
    string,
    number,
  ][]
  let start = PREFIX_BYTES + indexLength
  return new Map(index.map(([name, length]) => [name, bytes.subarray(start, (start += length))]))
}
