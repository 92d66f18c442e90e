import { read } from 'node:fs'

/** Undefined if the input cannot be read. Kills the process if it does not arrive. */
export function awaitInput(longest: number, patienceMs: number): Promise<string | undefined> {
  // Node cannot exit while a read is pending; the registered shell command turns the kill into
  // success.
  const giveUp = setTimeout(() => process.kill(process.pid, 'SIGKILL'), patienceMs)
  // One thread is enough, and starting four takes longer than reading.
  process.env.UV_THREADPOOL_SIZE = '1'
  return new Promise<string | undefined>((resolve) => {
    const chunks: Buffer[] = []
    let length = 0
    const readOn = () => {
      read(0, Buffer.allocUnsafe(64 * 1024), 0, 64 * 1024, null, (error, count, buffer) => {
        if (error?.code === 'EAGAIN') return void setTimeout(readOn, 5)
        if (error !== null && error.code !== 'EOF') return resolve(undefined)
        length += count ?? 0
        if (length > longest) return resolve(undefined)
        if (count > 0) {
          chunks.push(buffer.subarray(0, count))
          return readOn()
        }
        resolve(Buffer.concat(chunks).toString('utf8'))
      })
    }
    readOn()
  }).finally(() => clearTimeout(giveUp))
}
