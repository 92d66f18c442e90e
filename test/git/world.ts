import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Repository, findRepository } from '../../src/git/repository.ts'

const made: string[] = []
process.once('exit', () => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true })
})

export function temporaryFolder(name = 'stint git ü '): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), name)))
  made.push(folder)
  return folder
}

/** Runs the real git as a user would. */
export function git(cwd: string, ...args: string[]): string {
  const identity = [
    '-c',
    'user.name=A User',
    '-c',
    'user.email=user@example.com',
    '-c',
    'protocol.file.allow=always',
  ]
  return execFileSync('git', [...identity, ...args], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trimEnd()
}

export function write(root: string, path: string, content: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), content)
}

/** A repository with a branch `main`, and a first commit of the files given. */
export function newRepository(
  files: Readonly<Record<string, string>> = { 'a.txt': 'one\n' },
  root = temporaryFolder(),
): string {
  mkdirSync(root, { recursive: true })
  git(root, 'init', '-q', '-b', 'main')
  for (const [path, content] of Object.entries(files)) write(root, path, content)
  git(root, 'add', '-A')
  git(root, 'commit', '-q', '--allow-empty', '-m', 'first')
  return root
}

export function repositoryAt(folder: string): Repository {
  const repository = findRepository(folder)
  if (repository === undefined) throw new Error(`no repository at ${folder}`)
  return repository
}
