// Files of tests share a process. Each finds it as the first did: what the machine's owner configured, or works on just now,
// does not decide a test, and neither does what another file has changed.
import { rmSync } from 'node:fs'
import { afterAll, vi } from 'vitest'
import { temporaryFolder } from './scratch.ts'

const OF_THE_OWNER: ReadonlySet<string> = new Set([
  'GIT_DIR',
  'GIT_INDEX_FILE',
  'GIT_WORK_TREE',
  'STINT_SESSION',
  'STINT_RUN',
])

const shared = globalThis as {
  stintFound?: { readonly env: NodeJS.ProcessEnv; readonly cwd: string }
}
const found = (shared.stintFound ??= { env: prepared(), cwd: process.cwd() })
putBack()

afterAll(() => {
  vi.useRealTimers()
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  putBack()
})

function prepared(): NodeJS.ProcessEnv {
  const home = temporaryFolder()
  process.once('exit', () => rmSync(home, { recursive: true, force: true }))
  const env = {
    ...process.env,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_SYSTEM: '/dev/null',
    STINT_STATE_HOME: home,
  }
  return Object.fromEntries(Object.entries(env).filter(([name]) => !OF_THE_OWNER.has(name)))
}

function putBack(): void {
  for (const name of Object.keys(process.env))
    if (found.env[name] === undefined) delete process.env[name]
  Object.assign(process.env, found.env)
  process.chdir(found.cwd)
}
