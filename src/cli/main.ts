import { StintError, isMissing } from '../public.ts'
import { readFileSync } from 'node:fs'
import { runCommandLine } from './app.ts'
import { describeError, exitCodeFor } from './context/context.ts'

const { env, stdout, stderr } = process

stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader that has seen enough (`stint list | head`) closes the pipe; that is not an error.
  if (error.code === 'EPIPE') process.exit(0)
  stderr.write(`${describeError(error)}\n`)
  process.exit(exitCodeFor(error))
})

/** Asked for at its first use, so that help is given even where there is no folder any more. */
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

/** Runs the command line of this process. */
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
        // Looked at when asked for: opening standard input takes longer than most commands run.
        get canAsk() {
          return process.stdin.isTTY && stdout.isTTY && stderr.isTTY && env.CI === undefined
        },
        hasColour: stdout.isTTY && env.NO_COLOR === undefined && env.TERM !== 'dumb',
        // By its stream: whoever asked whether it is a terminal made a pipe of it that does not wait for what is still to come.
        readStdin: () => process.getBuiltinModule('node:stream/consumers').text(process.stdin),
      },
      (JSON.parse(readFileSync(packageJson, 'utf8')) as { version: string }).version,
    )
  } catch (error) {
    stderr.write(`${describeError(error)}\n`)
    process.exitCode = exitCodeFor(error)
  }
}
