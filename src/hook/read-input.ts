import { read } from 'node:fs'

const LONGEST = 32 * 1024 * 1024

/**
 * All of standard input, or undefined when it cannot be read. Through `fs`, since the stream costs more to set up
 * than all the rest of a hook.
 */
export function readInput(): Promise<string | undefined> {
  // One thread is enough to read with, and starting four takes longer than reading.
  process.env.UV_THREADPOOL_SIZE = '1'
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let length = 0
    const readOn = () => {
      read(0, Buffer.allocUnsafe(64 * 1024), 0, 64 * 1024, null, (error, count, buffer) => {
        if (error?.code === 'EAGAIN') return void setTimeout(readOn, 5)
        if (error !== null && error.code !== 'EOF') return resolve(undefined)
        length += count ?? 0
        if (length > LONGEST) return resolve(undefined)
        if (count > 0) {
          chunks.push(buffer.subarray(0, count))
          return readOn()
        }
        resolve(Buffer.concat(chunks).toString('utf8'))
      })
    }
    readOn()
  })
}
