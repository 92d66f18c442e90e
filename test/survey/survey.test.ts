import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadProjectContext } from '../../src/context/survey/project-context.ts'
import { redact } from '../../src/text/redact.ts'
import { git, newRepository, repositoryAt, temporaryFolder, write } from '../git/world.ts'
import { EXAMPLES } from './repositories.ts'

const withoutSecrets = (text: string) => redact(text).text
const contextOf = (root: string, options: { refresh?: boolean } = {}) =>
  loadProjectContext(repositoryAt(root), { ...options, withoutSecrets })

describe('the project context', () => {
  test.each(Object.entries(EXAMPLES))(
    'of %s shows its commands and conventions',
    (_, { files, expected, untold = [] }) => {
      const { text, tokens } = contextOf(newRepository(files))
      for (const words of expected) expect(`${text}\n`).toContain(words)
      for (const words of untold) expect(text).not.toContain(words)
      expect(tokens).toBeLessThanOrEqual(500)
    },
  )

  test('is byte-identical for the same commit in every clone', () => {
    for (const { files } of Object.values(EXAMPLES)) {
      const root = newRepository(files)
      const clone = join(temporaryFolder(), 'another name')
      git(root, 'clone', '-q', root, clone)
      expect(contextOf(clone).text).toBe(contextOf(root).text)
      expect(contextOf(root, { refresh: true }).text).toBe(contextOf(root).text)
    }
  })

  test.each([
    [
      '`area: subject`',
      ['journal: keep a tail', 'cli: say why', 'docs: how', 'git: read it', 'text: clean it'],
    ],
    ['Conventional Commits', ['feat: a', 'fix(x): b', 'chore!: c', 'docs: d', 'test: e', 'WIP']],
    ['`[area] subject`', ['[ui] a', '[db] b', '[ui] c', '[api] d', '[ci] e']],
    ['`KEY-123 subject`', ['ABC-1 a', 'ABC-2 b', 'ABC-3: c', 'ABC-4 d', 'ABC-5 e']],
    ['a capitalised sentence', ['Add a', 'Fix b', 'Remove c', 'Move d', 'Rename e']],
  ])('recognises commit subjects written as %s', (style, subjects) => {
    const root = newRepository()
    for (const subject of subjects) git(root, 'commit', '-q', '--allow-empty', '-m', subject)
    expect(contextOf(root).text).toContain(`Commits: ${style}`)
  })

  test('has no commit style when the subjects have none', () => {
    const root = newRepository()
    for (const subject of ['feat: a', 'Add b', '[x] c', 'ABC-1 d', '!!', 'x: y'])
      git(root, 'commit', '-q', '--allow-empty', '-m', subject)
    expect(contextOf(root).text).not.toContain('Commits:')
  })

  test('works before the first commit and in an empty repository', () => {
    const root = temporaryFolder()
    git(root, 'init', '-q', '-b', 'main')
    expect(contextOf(root)).toMatchObject({ text: '', tokens: 0 })
    write(root, 'go.mod', 'module a\n')
    expect(contextOf(root).text).toBe('')
    git(root, 'add', '-A')
    expect(contextOf(root).text).toContain('go test')
    expect(contextOf(root).head).toBeUndefined()
  })

  test('comes from tracked files only', () => {
    const root = newRepository({ 'a.ts': '' })
    write(root, 'package.json', '{"name":"untracked"}')
    expect(contextOf(root).text).not.toContain('untracked')
  })

  test('follows no symbolic link, which may lead out of the repository', () => {
    const outside = temporaryFolder()
    writeFileSync(join(outside, 'package.json'), '{"name":"of-somebody-else"}')
    mkdirSync(join(outside, 'web'))
    writeFileSync(join(outside, 'web', 'package.json'), '{"name":"of-somebody-else"}')
    const root = newRepository({ 'a.ts': '', 'web/package.json': '{"name":"ours"}' })
    symlinkSync(join(outside, 'package.json'), join(root, 'package.json'))
    git(root, 'add', '-A')
    rmSync(join(root, 'web'), { recursive: true })
    symlinkSync(join(outside, 'web'), join(root, 'web'))
    expect(contextOf(root).text).not.toContain('somebody-else')
  })

  test('leaves out unreadable manifests, and shows the rest', () => {
    const root = newRepository({
      'package.json': '{"name": ',
      'pyproject.toml': '[project\nname = [[[\n"',
      'composer.json': '[]',
      'Cargo.toml': `[package]\nname = "real"\n# ${'x'.repeat(300_000)}`,
      'go.mod': 'module fine\n',
      'src/a.go': '',
    })
    const { text } = contextOf(root)
    expect(text).toContain('Go module fine')
    expect(text).not.toContain('real')
  })

  test('has no secret of a script or a commit', () => {
    const token = `ghp_${'a1B2c3D4'.repeat(4)}abcd`
    const root = newRepository({
      'package.json': JSON.stringify({ scripts: { test: `TOKEN=${token} run`, start: 'x' } }),
    })
    for (let n = 0; n < 6; n += 1)
      git(root, 'commit', '-q', '--allow-empty', '-m', `ci: use ${token}`)
    const { text } = contextOf(root)
    expect(text).toContain('[redacted:')
    expect(text).not.toContain(token)
  })

  test('runs nothing of the repository', () => {
    const root = newRepository({
      'package.json': '{"scripts":{"test":"touch ran"}}',
      Makefile: 'X := $(shell touch ran)\ntest:\n',
    })
    const hook = join(root, 'hook.sh')
    writeFileSync(hook, '#!/bin/sh\ntouch ran\n', { mode: 0o755 })
    git(root, 'config', 'core.fsmonitor', hook)
    git(root, 'config', 'log.showSignature', 'true')
    contextOf(root, { refresh: true })
    expect(
      git(root, '-c', 'core.fsmonitor=false', 'status', '--porcelain', '--untracked-files=all'),
    ).toBe('?? hook.sh')
  })

  test('of a hundred thousand files takes one listing and a handful of reads', () => {
    const root = newRepository({ 'package.json': '{"name":"huge"}' })
    const blob = execFileSync('git', ['hash-object', '-w', '--stdin'], {
      cwd: root,
      input: 'x',
      encoding: 'utf8',
    }).trim()
    const paths = Array.from(
      { length: 100_000 },
      (_, n) => `packages/p${n % 900}/src/module-${n % 7}/file-${n}.ts`,
    )
    const manifests = Array.from({ length: 900 }, (_, n) => `packages/p${n}/package.json`)
    const input = [...paths, ...manifests].map((path) => `100644 ${blob}\t${path}\n`).join('')
    execFileSync('git', ['update-index', '--index-info'], { cwd: root, input })
    const { text, sources, tokens } = contextOf(root)
    expect(text).toContain('packages/ (packages, TypeScript, 100900 files): p')
    expect(sources.length).toBeLessThan(10)
    expect(tokens).toBeLessThanOrEqual(500)
    expect(contextOf(root).renewed).toBeUndefined()
  })
})

describe('the stored project context', () => {
  const files = { 'package.json': '{"name":"one","scripts":{"test":"vitest"}}', 'src/a.ts': '' }

  test('is reused while nothing changes', () => {
    const root = newRepository(files)
    expect(contextOf(root).renewed).toBe('first')
    expect(contextOf(root).renewed).toBeUndefined()
    expect(contextOf(root, { refresh: true }).renewed).toBe('asked')
  })

  test.each<[string, (root: string) => void, string, string]>([
    [
      'a manifest',
      (root) => write(root, 'package.json', '{"name":"two"}'),
      'files',
      'Project: two',
    ],
    [
      'a manifest in place, with the same size and mtime',
      (root) => inPlace(root, 'package.json', 'one', 'two'),
      'files',
      'Project: two',
    ],
    [
      'the tracked paths',
      (root) => (write(root, 'b.py', ''), git(root, 'add', 'b.py')),
      'files',
      'Python',
    ],
    [
      'HEAD',
      (root) => git(root, 'commit', '-q', '--allow-empty', '-m', 'x'),
      'commit',
      'Project: one',
    ],
    [
      'a manifest that is gone',
      (root) => rmSync(join(root, 'package.json')),
      'files',
      'TypeScript',
    ],
  ])('is renewed after a change of %s', (_, change, because, expected) => {
    const root = newRepository(files)
    contextOf(root)
    change(root)
    const { renewed, text } = contextOf(root)
    expect(renewed).toBe(because)
    expect(text).toContain(expected)
    expect(contextOf(root).renewed).toBeUndefined()
  })

  test('is renewed when a missing tracked file is back', () => {
    const root = newRepository(files)
    rmSync(join(root, 'package.json'))
    expect(contextOf(root).text).not.toContain('Project:')
    git(root, 'checkout', '-q', '--', 'package.json')
    expect(contextOf(root).text).toContain('Project: one')
  })

  test('is separate for each worktree', () => {
    const root = newRepository(files)
    const linked = join(temporaryFolder(), 'linked')
    git(root, 'worktree', 'add', '-q', linked)
    write(linked, 'package.json', '{"name":"linked"}')
    expect(contextOf(root).text).toContain('Project: one')
    expect(contextOf(linked).text).toContain('Project: linked')
    expect(contextOf(root).renewed).toBeUndefined()
    expect(contextOf(linked).renewed).toBeUndefined()
  })

  test('is computed anyway if it cannot be stored', () => {
    const root = newRepository(files)
    mkdirSync(join(root, '.git', 'stint'), { recursive: true })
    mkdirSync(join(root, '.git', 'stint', 'project-context.json'))
    expect(contextOf(root).text).toContain('Project: one')
    expect(contextOf(root).renewed).toBe('first')
  })
})

/** Changes a file and restores its mtime. */
function inPlace(root: string, path: string, from: string, to: string): void {
  execFileSync(
    'bash',
    [
      '-c',
      `touch -r "$1" .time && sed -i "s/$2/$3/" "$1" && touch -r .time "$1" && rm .time`,
      '-',
      path,
      from,
      to,
    ],
    {
      cwd: dirname(join(root, path)),
    },
  )
}
