// Loads a program with V8's cached code. Compiling costs more than most events, and Node 20 has no
// compile cache of its own.
import { readFileSync, statSync } from 'node:fs'
import { Script } from 'node:vm'
import { unsealCode } from './start/sealed-code.ts'
import { stateHome } from '../journal/state-home.ts'

type WrappedModule = (
  exports: object,
  require: NodeJS.Require,
  folder: string,
  filename: string,
) => void

interface LoadedProgram<T> {
  readonly program: T
  /** Caches the code compiled so far. Undefined if it came from the cache. */
  readonly cache: (() => Promise<void>) | undefined
}

/** The file name contains a hash of the source, so cached code never runs for another source. */
export function loadCompiled<T extends object>(file: string): LoadedProgram<T> {
  const filename = `${__dirname}/${file}`
  const cachePath = compiledCachePath(file)
  const cachedData = readCompiled(cachePath)
  // The build emits pure ASCII, which V8 takes without conversion.
  const script = new Script(readFileSync(filename, 'latin1'), {
    filename,
    cachedData,
  })
  const exports = {}
  ;(script.runInThisContext() as WrappedModule)(exports, require, __dirname, filename)
  const isFromCache = cachedData !== undefined && script.cachedDataRejected === false
  const cache = async () => {
    const { cacheCompiled } = await import('./start/cache-compiled.ts')
    cacheCompiled(cachePath, script.createCachedData())
  }
  return {
    program: exports as T,
    cache: isFromCache && process.env.STINT_KEEP_COMPILED === undefined ? undefined : cache,
  }
}

export function compiledCachePath(file: string): string {
  return `${process.env.STINT_KEEP_COMPILED ?? `${stateHome()}/compiled`}/${file}.${thisNode()}`
}

/** Undefined if missing or damaged. */
export function readCompiled(path: string): Buffer | undefined {
  const sealed = readOrNothing(path)
  return sealed === undefined ? undefined : unsealCode(sealed)
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

function readOrNothing(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch {
    // Missing or unreadable.
    return undefined
  }
}
