// A checkpoint keeps untracked files in git, from where a push or a clone can carry them on.
import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { program, terminal } from '../support/cli.ts'

test('a checkpoint leaves untracked secrets out and reports them, and restoring it deletes none', () => {
  const { cwd, env, git } = terminal()
  const stint = (...args: string[]) =>
    spawnSync(process.execPath, [program, ...args], { cwd, env, encoding: 'utf8' })
  const files = ['.env', '.env.local', 'id_rsa']
  for (const file of files) writeFileSync(join(cwd, file), `PASSWORD=${file}-4711\n`)
  writeFileSync(join(cwd, '.env.example'), 'PASSWORD=\n')
  stint('init', '--name', 'work', '--goal', 'x')
  const saved = stint('checkpoint', '--note', 'before')
  expect(saved.stdout).toContain('Left out: .env, .env.local, id_rsa')
  expect(saved.stderr).toContain('untracked files with secrets stay out of git')
  const [ref = ''] = git('for-each-ref', '--format=%(refname)', 'refs/stint').trim().split('\n')
  expect(git('ls-tree', '-r', '--name-only', ref)).toBe('.env.example\nreadme.txt\n')
  expect(git('cat-file', '--batch-all-objects', '--batch-check')).not.toContain(
    git('hash-object', '.env').trim(),
  )
  const [entry] = JSON.parse(stint('checkpoint', 'list', '--json').stdout) as {
    code: { leftOut: string[] }
  }[]
  expect(entry!.code.leftOut).toEqual(files)
  stint('checkpoint', 'restore', '--branch', 'back')
  writeFileSync(join(cwd, '.env.example'), 'PASSWORD=\n')
  git('clean', '-q', '-f', '.env.example')
  git('switch', '-q', 'back')
  for (const file of files) expect(existsSync(join(cwd, file))).toBe(true)
})
