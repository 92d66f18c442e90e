import { chmodSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { StintError } from '../../src/journal/errors.ts'
import { findRepository } from '../../src/git/repository.ts'
import { GitFailed, gitSucceeds, runGit, writeGit } from '../../src/git/run-git.ts'
import { dirtyPaths } from '../../src/git/status.ts'
import { git, newRepository, temporaryFolder, write } from './world.ts'

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

describe('inspecting a repository executes nothing that its configuration names', () => {
  /** A repository whose own configuration runs a program that leaves a file behind. */
  function repositoryWith(attributes: string, settings: Readonly<Record<string, string>>) {
    const root = newRepository({ 'a.txt': 'one\n', '.gitattributes': `${attributes}\n` })
    const trap = join(temporaryFolder('trap'), 'sprung')
    const program = join(root, '.git', 'trap.sh')
    write(root, '.git/trap.sh', `#!/bin/sh\n: > '${trap}'\ncat\n`)
    chmodSync(program, 0o755)
    for (const [name, value] of Object.entries(settings))
      git(root, 'config', name, value.replace('TRAP', `'${program}'`))
    write(root, 'a.txt', 'two\n')
    return { root, isSprung: () => existsSync(trap) }
  }

  test.each([
    ['a clean filter', '* filter=evil', { 'filter.evil.clean': 'TRAP' }],
    [
      'a filter whose name holds dots and equals signs',
      '* filter=a.b=c',
      { 'filter.a.b=c.clean': 'TRAP' },
    ],
    [
      'a long-running filter',
      '* filter=evil',
      { 'filter.evil.process': 'TRAP', 'filter.evil.required': 'true' },
    ],
    ['a file system monitor', '', { 'core.fsmonitor': 'TRAP' }],
    ['a text conversion', '* diff=evil', { 'diff.evil.textconv': 'TRAP' }],
    ['a diff driver', '* diff=evil', { 'diff.evil.command': 'TRAP' }],
    ['an external diff', '', { 'diff.external': 'TRAP' }],
  ])('%s', (_name, attributes, settings) => {
    const { root, isSprung } = repositoryWith(attributes, settings)
    expect(dirtyPaths(root)).toEqual(['a.txt'])
    expect(runGit(root, ['diff'])).toContain('+two')
    runGit(root, ['log', '-p', '--max-count=1'])
    expect(isSprung()).toBe(false)
  })

  test('a filter in an included file', () => {
    const { root, isSprung } = repositoryWith('* filter=evil', {})
    write(root, '.git/more', `[filter "evil"]\n\tclean = ${join(root, '.git', 'trap.sh')}\n`)
    git(root, 'config', 'include.path', 'more')
    expect(dirtyPaths(root)).toEqual(['a.txt'])
    expect(isSprung()).toBe(false)
  })

  test('a hook', () => {
    const { root, isSprung } = repositoryWith('', {})
    git(root, 'config', 'core.hooksPath', join(root, '.git', 'own'))
    write(root, '.git/own/post-checkout', `#!/bin/sh\n'${join(root, '.git', 'trap.sh')}'\n`)
    chmodSync(join(root, '.git', 'own', 'post-checkout'), 0o755)
    runGit(root, ['checkout', '--quiet', '--detach'])
    expect(isSprung()).toBe(false)
  })

  test('a bare repository among the files of another is not used as a repository', () => {
    const root = newRepository()
    const bare = join(root, 'fixtures', 'evil')
    git(root, 'init', '-q', '--bare', bare)
    const trap = join(temporaryFolder('trap'), 'sprung')
    git(bare, 'config', 'core.bare', 'false')
    git(bare, 'config', 'core.worktree', root)
    git(bare, 'config', 'core.fsmonitor', `: > '${trap}'; false`)
    expect(findRepository(bare)?.gitDir).toBe(join(root, '.git'))
    expect(failureOf(() => runGit(bare, ['status'])).message).toContain('bare repository')
    expect(existsSync(trap)).toBe(false)
  })

  test('the git directory of a project and a bare repository of its own still work', () => {
    const root = newRepository()
    expect(runGit(join(root, '.git'), ['rev-parse', 'HEAD'])).toBe(
      runGit(root, ['rev-parse', 'HEAD']),
    )
    const bare = join(temporaryFolder(), 'own.git')
    git(root, 'clone', '-q', '--bare', root, bare)
    expect(runGit(bare, ['rev-parse', 'HEAD'])).toBe(runGit(root, ['rev-parse', 'HEAD']))
    expect(runGit(findRepository(bare)!, ['rev-parse', 'HEAD'])).toBe(
      runGit(root, ['rev-parse', 'HEAD']),
    )
  })

  test('a write keeps the filters, without which a filtered file would be stored unfiltered', () => {
    const root = newRepository({ 'a.txt': 'one\n' })
    git(root, 'config', 'filter.upper.clean', 'tr a-z A-Z')
    write(root, '.git/info/attributes', '*.txt filter=upper\n')
    write(root, 'b.txt', 'two\n')
    writeGit(root, ['update-index', '--add', 'b.txt'])
    expect(git(root, 'show', ':b.txt')).toBe('TWO')
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
