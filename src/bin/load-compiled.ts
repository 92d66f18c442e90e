// Loads a program with V8's cached code. Compiling costs more than most events, and Node 20 has no
// compile cache of its own.
import { closeSync, fstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { Script } from 'node:vm'
import { removeChecksum } from './start/checksummed-code.ts'
import { stateHome } from '../journal/state-home.ts'

type WrappedModule = (
  exports: object,
  require: (id: string) => object,
  folder: string,
  filename: string,
) => void

/** Scripts that V8 compiled in this process, because the cache had no code for them. */
const compiled: { readonly script: Script; readonly cachePath: string }[] = []

/**
 * The file name contains a hash of the source, so cached code never runs for another source. Each
 * `use` has code of its own, because V8 caches the functions that ran.
 */
export function loadCompiled<T extends object>(file: string, use: string): T {
  const filename = `${__dirname}/${file}`
  const cachePath = compiledCachePath(`${file}.${use}`)
  const cachedData = readCompiled(cachePath)
  // As Node read the entry: another encoding would make it compile more of itself.
  const script = new Script(readFileSync(filename, 'utf8'), {
    filename,
    cachedData,
  })
  const exports = {}
  const load = (id: string) => requireCompiled(id, use)
  ;(script.runInThisContext() as WrappedModule)(exports, load, __dirname, filename)
  const isFromCache = cachedData !== undefined && script.cachedDataRejected === false
  if (!isFromCache || process.env.STINT_KEEP_COMPILED !== undefined)
    compiled.push({ script, cachePath })
  return exports as T
}

const LOADED_ON_DEMAND = './hook-load-'
const loaded = new Map<string, object>()

/** What a program imports dynamically is a file of its own, which has cached code as well. */
function requireCompiled(id: string, use: string) {
  if (!id.startsWith(LOADED_ON_DEMAND)) return require(id)
  const exports = loaded.get(id) ?? loadCompiled(id.slice(2), use)
  loaded.set(id, exports)
  return exports
}

/** For a program that did not serve its event: the functions that usually run did not. */
export function discardCompiledCode(): void {
  compiled.length = 0
}

export function cacheCompiledCode(): Promise<void> | undefined {
  return compiled.length === 0 ? undefined : writeCompiled()
}

async function writeCompiled() {
  const { cacheCompiled } = await import('./start/cache-compiled.ts')
  for (const { script, cachePath } of compiled.splice(0))
    cacheCompiled(cachePath, script.createCachedData())
}

export function compiledCachePath(file: string): string {
  return `${process.env.STINT_KEEP_COMPILED ?? `${stateHome()}/compiled`}/${file}.${thisNode()}`
}

/** Undefined if missing or damaged. */
export function readCompiled(path: string): Uint8Array | undefined {
  try {
    return removeChecksum(readBytes(path))
  } catch {
    // Missing or unreadable.
    return undefined
  }
}

/** With the few functions of Node that a hook needs anyway: Node compiles its own at each start. */
function readBytes(path: string): Uint8Array {
  const fd = openSync(path, 'r')
  const bytes = new Uint8Array(fstatSync(fd).size)
  // A shorter read fails the checksum.
  readSync(fd, bytes, 0, bytes.length, null)
  closeSync(fd)
  return bytes
}

/**
 * Cached code is not portable between builds of one Node version, and V8 does not detect all of
 * them.
 */
function thisNode(): string {
  // The executable may just be being replaced.
  const { size, mtimeMs } = statSync(process.execPath, { throwIfNoEntry: false }) ?? {
    size: 0,
    mtimeMs: 0,
  }
  return `${process.version}.${process.arch}.${size.toString(36)}-${Math.floor(mtimeMs).toString(36)}`
}
