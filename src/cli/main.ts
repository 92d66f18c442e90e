import { StintError, isMissing } from '../public/projection.ts'
import { readFileSync } from 'node:fs'
import { runCommandLine } from './app.ts'
import { printable } from '../text/printable.ts'
import { describeError, exitCodeFor } from './context/context.ts'

const { env, stdout, stderr } = process

stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader such as `stint list | head` closes the pipe early, which is not an error.
  if (error.code === 'EPIPE') process.exit(0)
  stderr.write(`${printable(describeError(error))}\n`)
  process.exit(exitCodeFor(error))
})

/** Read on first use, so that help works even in a deleted folder. */
function currentFolder(): string {
  try {
    return process.cwd()
  } catch (error) {
    if (!isMissing(error)) throw error
    throw new StintError(
      'NO_FOLDER',
      'this folder no longer exists',
      'go to one that does and run the command again',
    )
  }
}

export async function main(packageJson: URL): Promise<void> {
  try {
    process.exitCode = await runCommandLine(
      process.argv.slice(2),
      {
        process: { stdout, stderr, env: env as Record<string, string> },
        get cwd() {
          return currentFolder()
        },
        env,
        // Read on demand: opening stdin takes longer than most commands run.
        get canAsk() {
          return process.stdin.isTTY && stdout.isTTY && stderr.isTTY && env.CI === undefined
        },
        hasColour: stdout.isTTY && env.NO_COLOR === undefined && env.TERM !== 'dumb',
        // Read as a stream: after isTTY was read, stdin is non-blocking and a synchronous read would miss later bytes.
        readStdin: () => process.getBuiltinModule('node:stream/consumers').text(process.stdin),
      },
      (JSON.parse(readFileSync(packageJson, 'utf8')) as { version: string }).version,
    )
  } catch (error) {
    stderr.write(`${printable(describeError(error))}\n`)
    process.exitCode = exitCodeFor(error)
  }
}
