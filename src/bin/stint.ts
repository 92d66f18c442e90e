#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { runCommandLine } from '../cli/app.ts'

// A reader that has seen enough (`stint list | head`) closes the pipe; that is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  throw error
})

const { env, stdin, stdout, stderr } = process
const version = (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }).version

process.exitCode = await runCommandLine(
  process.argv.slice(2),
  {
    process: { stdout, stderr, env: env as Record<string, string> },
    cwd: process.cwd(),
    env,
    canAsk: stdin.isTTY && stdout.isTTY && stderr.isTTY && env.CI === undefined,
    hasColour: stdout.isTTY && env.NO_COLOR === undefined && env.TERM !== 'dumb',
    readStdin: () => readFileSync(0, 'utf8'),
  },
  version,
)
