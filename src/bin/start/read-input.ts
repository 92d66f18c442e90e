import { fstatSync, readSync } from 'node:fs'

const LONGEST_INPUT = 32 * 1024 * 1024
const INPUT_MS = 900

const KIND = 0o170000
const FILE = 0o100000
const PIPE = 0o010000
const SOCKET = 0o140000

/**
 * Undefined if standard input cannot be read or does not arrive. Synchronous if reads do not block:
 * setting up a stream or a reading thread costs more than the rest of a hook.
 */
export function readInput(): string | undefined | Promise<string | undefined> {
  return neverWaits()
    ? readAtOnce()
    : import('./await-input.ts').then(({ awaitInput }) => awaitInput(LONGEST_INPUT, INPUT_MS))
}

/** Makes a pipe non-blocking, as `process.stdin` does; Node restores it at exit. */
function neverWaits(): boolean {
  try {
    const kind = fstatSync(0).mode & KIND
    if (kind === FILE) return true
    if ((kind !== PIPE && kind !== SOCKET) || process.platform === 'win32') return false
    const { Pipe, constants } = (process as unknown as Bindings).binding('pipe_wrap')
    return new Pipe(constants.SOCKET).open(0) === 0
  } catch {
    // No standard input, or this Node does not expose its pipe binding.
    return false
  }
}

interface Bindings {
  binding(name: 'pipe_wrap'): {
    readonly Pipe: new (kind: number) => { open(fd: number): number }
    readonly constants: { readonly SOCKET: number }
  }
}

function readAtOnce(): string | undefined {
  let bytes = Buffer.allocUnsafe(64 * 1024)
  let until: number | undefined
  for (let length = 0; ;) {
    try {
      const count = readSync(0, bytes, length, bytes.length - length, null)
      if (count === 0) return bytes.subarray(0, length).toString()
      length += count
      if (length > LONGEST_INPUT) return undefined
      if (length === bytes.length) bytes = Buffer.concat([bytes, Buffer.allocUnsafe(length)])
    } catch (error) {
      until ??= process.uptime() + INPUT_MS / 1000
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || process.uptime() > until)
        return undefined
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
    }
  }
}

const NAME_FIELD = '"hook_event_name":"'

/** Without parsing the whole input, and for the usual form of a `known` name without compiling a pattern. */
export function eventNameIn(input: string, known: Readonly<Record<string, string>>): string {
  const at = input.indexOf(NAME_FIELD) + NAME_FIELD.length
  const name = input.slice(at, input.indexOf('"', at))
  if (known[name] !== undefined) return name
  return /"hook_event_name"\s*:\s*"(\w+)"/.exec(input)?.[1] ?? ''
}
