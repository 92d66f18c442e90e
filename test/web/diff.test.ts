import { spawnSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readDiff } from '../../web/components/diff.ts'
import { scratchFolder } from '../support/scratch.ts'

test('parses changed, added, deleted, renamed and binary files, quoted names and a missing newline', () => {
  const folder = scratchFolder()
  const git = (...args: readonly string[]): string => {
    const { status, stdout, stderr } = spawnSync('git', args, {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null' },
    })
    expect([status, stderr]).toEqual([0, ''])
    return stdout
  }
  const put = (path: string, text: string | Uint8Array): void =>
    writeFileSync(join(folder, path), text)
  git('init', '-q')
  mkdirSync(join(folder, 'a b'))
  put('list.sql', 'one\n-- two\nthree\n')
  put('gone.txt', 'gone\n')
  put('a b/old.txt', 'a\nb\nc\nd\ne\nf\n')
  put('ü.txt', 'x')
  git('add', '.')
  git('-c', 'user.name=t', '-c', 'user.email=t@example.invalid', 'commit', '-qm', 'start')
  put('list.sql', 'one\nthree\n++ four\n')
  rmSync(join(folder, 'gone.txt'))
  renameSync(join(folder, 'a b/old.txt'), join(folder, 'a b/new.txt'))
  put('ü.txt', 'y')
  put('picture.bin', new Uint8Array([0, 1, 2, 0]))
  git('add', '.')
  const files = readDiff(git('diff', '-M', '--cached'))
  expect(
    files.map(({ path, previousPath, change, isBinary, added, removed }) => [
      path,
      previousPath,
      change,
      isBinary,
      added,
      removed,
    ]),
  ).toEqual([
    ['a b/new.txt', 'a b/old.txt', 'renamed', false, 0, 0],
    ['gone.txt', undefined, 'deleted', false, 0, 1],
    ['list.sql', undefined, 'changed', false, 1, 1],
    ['picture.bin', undefined, 'added', true, 0, 0],
    ['ü.txt', undefined, 'changed', false, 1, 1],
  ])
  expect(files[2]?.lines).toEqual([
    { kind: 'hunk', text: 'line 1' },
    { kind: 'same', text: 'one', old: 1, new: 1 },
    { kind: 'removed', text: '-- two', old: 2 },
    { kind: 'same', text: 'three', old: 3, new: 2 },
    { kind: 'added', text: '++ four', new: 3 },
  ])
  expect(files[4]?.lines.map(({ kind }) => kind)).toEqual([
    'hunk',
    'removed',
    'note',
    'added',
    'note',
  ])
})

test('shows the available part of a truncated diff', () => {
  const cut = 'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,9 @@\n one\n+two\n+thr'
  expect(readDiff(cut)[0]?.lines.map(({ text }) => text)).toEqual(['line 1', 'one', 'two', 'thr'])
  expect(readDiff('')).toEqual([])
})
