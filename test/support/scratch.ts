import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execFileSync } from 'node:child_process'
import { onTestFinished } from 'vitest'

/** A new folder that is removed when the running test ends. */
export function scratchFolder(): string {
  const path = temporaryFolder()
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** A new folder that the caller removes. */
export function temporaryFolder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), 'stint-test-')))
}

/** Makes a folder a git repository that ignores the machine's git settings. */
export function initRepository(folder: string): void {
  mkdirSync(folder, { recursive: true })
  git(folder, 'init', '--quiet', '--initial-branch=main')
  git(folder, 'config', 'user.name', 'Test')
  git(folder, 'config', 'user.email', 'test@example.invalid')
}

export function git(folder: string, ...args: readonly string[]): string {
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' }
  return execFileSync('git', args, {
    cwd: folder,
    encoding: 'utf8',
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
}
