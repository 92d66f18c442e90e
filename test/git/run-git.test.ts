import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { StintError } from '../../src/journal/errors.ts'
import { GitFailed, gitSucceeds, runGit } from '../../src/git/run-git.ts'
import { newRepository, temporaryFolder, write } from './world.ts'

describe('running git', () => {
  test("a failure is a typed error with git's exit code and message", () => {
    const root = newRepository()
    const failure = failureOf(() =>
      runGit(root, ['-c', 'a.b=c', 'rev-parse', '--verify', 'nothing']),
    )
    expect(failure).toBeInstanceOf(StintError)
    expect(failure).toMatchObject({ code: 'GIT_FAILED', status: 128 })
    expect(failure.message).toBe('git rev-parse failed: fatal: Needed a single revision')
  })

  test('a missing folder is named in the error', () => {
    const missing = join(temporaryFolder(), 'missing')
    expect(failureOf(() => runGit(missing, ['status'])).message).toContain(
      `there is no folder ${missing}`,
    )
  })

  test('a missing git program is named in the error', () => {
    const failure = failureOf(() =>
      runGit(temporaryFolder(), ['status'], { env: { PATH: '/nowhere' } }),
    )
    expect(failure.message).toContain('git is not installed')
    expect(failure.hint).toContain('PATH')
  })

  test('environment variables that point git elsewhere are not passed on', () => {
    const root = newRepository()
    const elsewhere = newRepository()
    process.env['GIT_DIR'] = join(elsewhere, '.git')
    process.env['GIT_INDEX_FILE'] = join(elsewhere, 'index')
    try {
      expect(runGit(root, ['rev-parse', '--show-toplevel']).trim()).toBe(root)
    } finally {
      delete process.env['GIT_DIR']
      delete process.env['GIT_INDEX_FILE']
    }
  })

  test('paths are printed unquoted', () => {
    const root = newRepository()
    write(root, 'größe – 大.txt', 'x')
    expect(runGit(root, ['ls-files', '--others'])).toBe('größe – 大.txt\n')
  })

  test('input reaches git byte for byte', () => {
    const root = newRepository()
    expect(runGit(root, ['stripspace'], { input: 'ü\n\n\nb' })).toBe('ü\n\nb\n')
    expect(runGit(root, ['stripspace'], { input: '\u00ff', encoding: 'latin1' })).toBe('\u00ff\n')
  })

  test('an exit code of 0 or 1 is yes or no, and any other error is thrown', () => {
    const root = newRepository()
    expect(gitSucceeds(root, ['show-ref', '--verify', '--quiet', 'refs/heads/main'])).toBe(true)
    expect(gitSucceeds(root, ['show-ref', '--verify', '--quiet', 'refs/heads/none'])).toBe(false)
    expect(() => gitSucceeds(root, ['rev-parse', '--verify', 'nothing'])).toThrow(GitFailed)
  })
})

function failureOf(act: () => unknown): GitFailed {
  try {
    act()
  } catch (error) {
    if (error instanceof GitFailed) return error
    throw error
  }
  throw new Error('it did not fail')
}
