// Runs each benchmark in its own process: memory left behind does not affect the next, and a crash
// loses no other rows.
import { fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const INTERRUPTED = 130

/**
 * Returns the rows, or one row with the reason for the failure. Removes all temporary files in any
 * case.
 */
export function runApart(name, file, { scale }) {
  const folder = mkdtempSync(join(tmpdir(), 'stint-bench-'))
  return new Promise((resolve) => {
    // Its standard output is only progress.
    const child = fork(new URL(import.meta.url), [file.href, String(scale)], {
      stdio: ['ignore', process.stderr, 'inherit', 'ipc'],
      env: { ...process.env, TMPDIR: folder },
      // A process group of its own, to kill the programs it starts.
      detached: true,
    })
    let isInterrupted = false
    const interrupt = () => {
      isInterrupted = true
      process.kill(-child.pid, 'SIGKILL')
    }
    process.once('SIGINT', interrupt)
    let result = { failed: 'it ended without an answer' }
    child.on('message', (message) => (result = message))
    child.on('error', (error) => resolve(failure(name, error.message)))
    child.on('close', (code, signal) => {
      process.off('SIGINT', interrupt)
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
      if (isInterrupted) process.exit(INTERRUPTED)
      if (result.failed === undefined && code === 0) resolve(result)
      else resolve(failure(name, result.failed ?? `it ended with ${signal ?? code}`))
    })
  })
}

function failure(name, why) {
  return { hasFailed: true, rows: [{ name, note: `failed: ${why}`, ok: false }] }
}

async function runHere(file, scale) {
  const say = (line) => process.stderr.write(`${line}\n`)
  try {
    const { run, columns } = await import(file)
    return { rows: await run({ scale, say }), columns }
  } catch (error) {
    say(error.stack)
    return { failed: error.message }
  }
}

if (process.argv[1] === import.meta.filename) {
  const [, , file, scale] = process.argv
  // The result is no longer needed.
  const giveUp = () => process.exit(1)
  process.on('disconnect', giveUp)
  process.send(await runHere(file, Number(scale)), () => {
    process.off('disconnect', giveUp)
    process.disconnect()
  })
}
