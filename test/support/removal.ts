import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'

/**
 * Removes the paths like a concurrent `git clean` until the test ends. The pause leaves time to make several files durable, which a slow
 * disk cannot do between two immediate removals.
 */
export async function removeAgainAndAgain(paths: readonly string[], pauseMs = 0): Promise<void> {
  const remove = `for (const path of paths) try { require('node:fs').rmSync(path, { recursive: true, force: true }) } catch {}`
  const pause =
    pauseMs > 0
      ? `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Math.random() * ${pauseMs})`
      : ''
  const program = `console.log('begun'); const paths = ${JSON.stringify(paths)}; for (;;) { ${remove}; ${pause} }`
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  await once(child.stdout, 'data')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
}
