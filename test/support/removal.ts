import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'

/**
 * Removes the paths like a concurrent `git clean` until the test ends, and returns a function that counts the removals so far. The pause
 * leaves time to make several files durable, which a slow disk cannot do between two immediate removals.
 */
export async function removeAgainAndAgain(
  paths: readonly string[],
  pauseMs = 0,
): Promise<() => number> {
  const remove = `for (const path of paths) try { fs.rmSync(path, { recursive: true }); fs.writeSync(1, '.') } catch {}`
  const pause =
    pauseMs > 0
      ? `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Math.random() * ${pauseMs})`
      : ''
  const program = `const fs = require('node:fs'); fs.writeSync(1, '!'); const paths = ${JSON.stringify(paths)}; for (;;) { ${remove}; ${pause} }`
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  let printed = 0
  child.stdout.on('data', (bytes: Buffer) => (printed += bytes.length))
  await once(child.stdout, 'data')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  return () => printed - 1
}
