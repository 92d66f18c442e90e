import { fstatSync, readSync } from 'node:fs'

const LONGEST_INPUT = 32 * 1024 * 1024
/** How long input is waited for. */
const INPUT_MS = 900

const KIND = 0o170000
const FILE = 0o100000
const PIPE = 0o010000
const SOCKET = 0o140000

/**
 * All of standard input, or undefined when it cannot be read or does not come. Read at once where a read never waits:
 * a stream, or a thread that reads and a timer beside it, cost more to set up than all the rest of a hook.
 */
export function readInput(): string | undefined | Promise<string | undefined> {
  return neverWaits()
    ? readAtOnce()
    : import('./await-input.ts').then(({ awaitInput }) => awaitInput(LONGEST_INPUT, INPUT_MS))
}

/** Whether a read gives what is there and says where nothing is. A pipe is made so, as by `process.stdin`; Node makes it as it was when it ends. */
function neverWaits(): boolean {
  try {
    const kind = fstatSync(0).mode & KIND
    if (kind === FILE) return true
    if ((kind !== PIPE && kind !== SOCKET) || process.platform === 'win32') return false
    const { Pipe, constants } = (process as unknown as Bindings).binding('pipe_wrap')
    return new Pipe(constants.SOCKET).open(0) === 0
  } catch {
    // Nothing is open there, or this Node does not give out what its own streams are made of.
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
      if (count === 0) return bytes.toString('utf8', 0, length)
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

/** The name of an event, told without reading all of it. */
export function eventNameIn(input: string): string {
  return /"hook_event_name"\s*:\s*"(\w+)"/.exec(input)?.[1] ?? ''
}
