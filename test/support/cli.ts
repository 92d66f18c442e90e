import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { runCommandLine } from '../../src/cli/app.ts'
import type { CliContext } from '../../src/cli/context/context.ts'
import { copyRepository } from './scratch.ts'

export const program = join(
  dirname(dirname(dirname(fileURLToPath(import.meta.url)))),
  'dist',
  'stint.js',
)

export interface Ran {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
  json<T = Record<string, unknown>>(): T
}

/** A scratch git project with one commit on `main`, and the command line in it. */
export function terminal(options: { git?: boolean } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'stint-cli-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const cwd = join(folder, 'project')
  const env: NodeJS.ProcessEnv = {
    PATH: process.env.PATH,
    HOME: folder,
    STINT_STATE_HOME: join(folder, 'state'),
    GIT_CONFIG_GLOBAL: join(folder, 'gitconfig'),
  }
  writeFileSync(
    env.GIT_CONFIG_GLOBAL!,
    '[user]\n\tname = Test\n\temail = test@example.invalid\n[init]\n\tdefaultBranch = main\n',
  )
  const git = (...args: string[]) => execFileSync('git', args, { cwd, env, encoding: 'utf8' })
  if (options.git === false) mkdirSync(cwd)
  else
    copyRepository(cwd, 'terminal', (template) => {
      writeFileSync(join(template, 'readme.txt'), 'a project\n')
      for (const args of [
        ['init', '-q'],
        ['add', '.'],
        ['commit', '-qm', 'start'],
      ])
        execFileSync('git', args, { cwd: template, env })
    })

  return { folder, cwd, env, git, ...commandLine(cwd, env) }
}

/** The command line in a folder. */
export function commandLine(cwd: string, env: NodeJS.ProcessEnv) {
  /** Runs a command line in this process. */
  const stint = async (...args: string[]): Promise<Ran> => run(args, {})
  const run = async (args: readonly string[], overrides: Partial<CliContext>): Promise<Ran> => {
    const written = { stdout: '', stderr: '' }
    const stream = (name: 'stdout' | 'stderr') => ({
      write: (text: string) => {
        written[name] += text
      },
    })
    const context = {
      process: {
        stdout: stream('stdout'),
        stderr: stream('stderr'),
        env: env as Record<string, string>,
      },
      cwd,
      env,
      canAsk: false,
      hasColour: false,
      readStdin: async () => '',
      ...overrides,
    }
    // The project registry is found through the process's own environment.
    const before = process.env.STINT_STATE_HOME
    process.env.STINT_STATE_HOME = env.STINT_STATE_HOME
    try {
      const exitCode = await runCommandLine(args, context, '0.0.0')
      return { exitCode, ...written, json: () => JSON.parse(written.stdout) }
    } finally {
      if (before === undefined) delete process.env.STINT_STATE_HOME
      else process.env.STINT_STATE_HOME = before
    }
  }
  return { stint, run }
}
