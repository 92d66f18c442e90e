import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'

/** Removes the paths like a concurrent `git clean` until the test ends, and returns a function that counts the removals so far. */
export async function removeAgainAndAgain(paths: readonly string[]): Promise<() => number> {
  const { removals } = await startRemover(paths, 'for (;;) remove()')
  return removals
}

/**
 * Removes the paths once for each call of `soon`, at a random moment within the next 100 ms. An operation that makes several files durable
 * meets a known number of removals this way, however slow the machine is.
 */
export async function removeOnCall(
  paths: readonly string[],
): Promise<{ readonly soon: () => void; readonly removals: () => number }> {
  const { child, removals } = await startRemover(
    paths,
    `process.stdin.on('data', (calls) => { for (const _ of calls) setTimeout(remove, Math.random() * 100) })`,
  )
  return { soon: () => void child.stdin.write('.'), removals }
}

async function startRemover(paths: readonly string[], loop: string) {
  const program = `const fs = require('node:fs')
    const remove = () => {
      for (const path of ${JSON.stringify(paths)})
        try { fs.rmSync(path, { recursive: true }); fs.writeSync(1, '.') } catch {}
    }
    fs.writeSync(1, '!')
    ${loop}`
  const child = spawn(process.execPath, ['-e', program], { stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  let printed = 0
  child.stdout.on('data', (bytes: Buffer) => (printed += bytes.length))
  await once(child.stdout, 'data')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  return { child, removals: () => printed - 1 }
}
