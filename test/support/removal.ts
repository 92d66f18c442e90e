import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'

/** What `git clean` does beside us, without a pause, until the test ends. */
export async function removeAgainAndAgain(...paths: readonly string[]): Promise<void> {
  const remove = `for (const path of paths) try { require('node:fs').rmSync(path, { recursive: true, force: true }) } catch {}`
  const program = `console.log('begun'); const paths = ${JSON.stringify(paths)}; for (;;) ${remove}`
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  await once(child.stdout, 'data')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
}
