// On standard output stands the protocol and nothing else: one stray line of a library, and a client takes the server for broken.
import { Writable } from 'node:stream'

/** Keeps standard output for whoever gets this stream. What anybody else writes there goes to standard error. */
export function keepStdout(process: NodeJS.Process = globalThis.process): Writable {
  const { stdout, stderr } = process
  const write = stdout.write.bind(stdout)
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write
  // Whoever writes is told by the call that failed; without anybody listening the process would end by it.
  stdout.on('error', () => undefined)
  return new Writable({
    decodeStrings: false,
    write: (chunk: string | Uint8Array, _encoding, done) =>
      void write(chunk, (error) => done(error ?? null)),
  })
}
