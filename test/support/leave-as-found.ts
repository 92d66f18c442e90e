// Test files share a process. This restores its environment for each, so that neither the user's settings nor another test file affects
// a test.
import { rmSync } from 'node:fs'
import { afterAll, vi } from 'vitest'
import { temporaryFolder } from './scratch.ts'

const USER_VARIABLES: ReadonlySet<string> = new Set([
  'GIT_DIR',
  'GIT_INDEX_FILE',
  'GIT_WORK_TREE',
  'STINT_SESSION',
  'STINT_RUN',
  'STINT_CONVERSATION',
  'CLAUDECODE',
  'CLAUDE_CODE_ENTRYPOINT',
])

const shared = globalThis as {
  stintFound?: { readonly env: NodeJS.ProcessEnv; readonly cwd: string }
}
const initial = (shared.stintFound ??= { env: isolatedEnv(), cwd: process.cwd() })
restoreProcess()

afterAll(() => {
  vi.useRealTimers()
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  restoreProcess()
})

function isolatedEnv(): NodeJS.ProcessEnv {
  const home = temporaryFolder()
  process.once('exit', () => rmSync(home, { recursive: true, force: true }))
  const env = {
    ...process.env,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_SYSTEM: '/dev/null',
    STINT_STATE_HOME: home,
  }
  return Object.fromEntries(Object.entries(env).filter(([name]) => !USER_VARIABLES.has(name)))
}

function restoreProcess(): void {
  for (const name of Object.keys(process.env))
    if (initial.env[name] === undefined) delete process.env[name]
  Object.assign(process.env, initial.env)
  process.chdir(initial.cwd)
}
