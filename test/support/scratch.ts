import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execFileSync } from 'node:child_process'
import { onTestFinished } from 'vitest'
import { TEMPLATES } from './templates.ts'

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

/** Copies a repository that git builds once for all test files: a copy takes a tenth of the time. */
export function copyRepository(
  folder: string,
  name: string,
  build: (folder: string) => void,
): void {
  const template = join(templates(), name)
  if (!existsSync(template)) {
    const built = mkdtempSync(`${template}-`)
    build(built)
    try {
      renameSync(built, template)
    } catch (error) {
      // Another worker was first; its copy is the same.
      if (!existsSync(template)) throw error
      rmSync(built, { recursive: true, force: true })
    }
  }
  cpSync(template, folder, { recursive: true })
}

let ownTemplates: string | undefined

/** One folder for all workers where the suite has made one. */
function templates(): string {
  const shared = process.env[TEMPLATES]
  if (shared !== undefined) return shared
  if (ownTemplates === undefined) {
    const own = (ownTemplates = temporaryFolder())
    process.once('exit', () => rmSync(own, { recursive: true, force: true }))
  }
  return ownTemplates
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
