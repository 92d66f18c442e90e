// One process creates all the worlds of a sweep: starting it takes longer than its work.
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'

/** The argument that makes a workload program create worlds; the folders then come line by line. */
export const MAKE = 'make'
/** Printed when a folder is ready. */
export const MADE = 'made'

export class WorldMaker {
  readonly #start: () => ChildProcessByStdio<Writable, Readable, null>
  #child: ChildProcessByStdio<Writable, Readable, null> | undefined
  readonly #waiting: {
    resolve(acknowledged: readonly string[]): void
    reject(error: Error): void
  }[] = []

  constructor(program: string, steps: readonly string[], env: Readonly<Record<string, string>>) {
    this.#start = () =>
      spawn(process.execPath, [program, MAKE, ...steps], {
        env: { ...process.env, ...env },
        stdio: ['pipe', 'pipe', 'inherit'],
      })
  }

  /** Runs the steps in a folder; returns the acknowledged ids. */
  make(world: string): Promise<readonly string[]> {
    const child = (this.#child ??= this.#listen(this.#start()))
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      child.stdin.write(`${world}\n`)
    })
  }

  close(): void {
    this.#child?.stdin.end()
    this.#child = undefined
  }

  #listen(child: ChildProcessByStdio<Writable, Readable, null>) {
    let acknowledged: string[] = []
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line === MADE) {
        this.#waiting.shift()!.resolve(acknowledged)
        acknowledged = []
      } else if (line.startsWith('ack ')) acknowledged.push(line.slice('ack '.length))
    })
    child.once('exit', (code) => {
      for (const { reject } of this.#waiting.splice(0))
        reject(new Error(`the maker of worlds ended with ${code}`))
    })
    return child
  }
}
