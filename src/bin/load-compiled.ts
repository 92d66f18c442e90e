// Loads a program with the code that V8 compiled for it before. Compiling it anew each time would cost more than most of what is done with it,
// and Node 20 has no such cache of its own.
import { readFileSync, statSync } from 'node:fs'
import { Script } from 'node:vm'
import { unsealCode } from './start/sealed-code.ts'
import { stateHome } from '../journal/state-home.ts'

type Wrapped = (exports: object, require: NodeJS.Require, folder: string, filename: string) => void

interface Loaded<T> {
  readonly program: T
  /** Keeps what V8 has compiled by now. Undefined when it came from the cache. */
  readonly keep: (() => Promise<void>) | undefined
}

/** The file's name has a sum of its source in it, so that no other source is run by its code. */
export function loadCompiled<T extends object>(file: string): Loaded<T> {
  const filename = `${__dirname}/${file}`
  const cache = compiledCachePath(file)
  const cachedData = readCompiled(cache)
  // The build leaves nothing but ASCII in it, and V8 takes such a text as it is.
  const script = new Script(readFileSync(filename, 'latin1'), {
    filename,
    cachedData,
  })
  const exports = {}
  ;(script.runInThisContext() as Wrapped)(exports, require, __dirname, filename)
  const isFromCache = cachedData !== undefined && script.cachedDataRejected === false
  const keep = async () => {
    const { cacheCompiled } = await import('./start/cache-compiled.ts')
    cacheCompiled(cache, script.createCachedData())
  }
  return {
    program: exports as T,
    keep: isFromCache && process.env.STINT_KEEP_COMPILED === undefined ? undefined : keep,
  }
}

/** Where the code compiled for a file is kept, by this Node. */
export function compiledCachePath(file: string): string {
  return `${process.env.STINT_KEEP_COMPILED ?? `${stateHome()}/compiled`}/${file}.${thisNode()}`
}

/** Undefined where there is none, or it is damaged. */
export function readCompiled(path: string): Buffer | undefined {
  const sealed = readOrNothing(path)
  return sealed === undefined ? undefined : unsealCode(sealed)
}

/** Two builds of one version need not understand each other's code, and V8 does not tell all of them apart. */
function thisNode(): string {
  // Being replaced just now, it may have no file.
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
    // Not there yet, or not to be read.
    return undefined
  }
}
