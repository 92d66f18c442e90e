import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { checkpointCode } from '../../src/git/code-checkpoint.ts'
import { filesOf, checkpointUnchanged } from './checkpoint-unchanged.ts'
import { git, newRepository, repositoryAt, temporaryFolder, write } from './world.ts'

describe('checkpointing code', () => {
  test('changed, new and deleted files are saved, ignored ones are not', () => {
    const root = newRepository({ 'a.txt': 'one\n', 'gone.txt': 'x\n', '.gitignore': 'ignored*\n' })
    write(root, 'a.txt', 'two\n')
    write(root, 'new folder/größe.txt', 'new\n')
    write(root, 'ignored.txt', 'no\n')
    rmSync(join(root, 'gone.txt'))
    const kept = checkpointUnchanged(root)
    expect(filesOf(root, kept.commit)).toEqual([
      '100644 .gitignore',
      '100644 a.txt',
      '100644 new folder/größe.txt',
    ])
    expect(git(root, 'show', `${kept.commit}:a.txt`)).toBe('two')
    expect(git(root, 'rev-parse', `${kept.commit}^`)).toBe(git(root, 'rev-parse', 'HEAD'))
    expect(kept.leftOut).toEqual([])
  })

  test('staged changes stay staged, and the working file is saved', () => {
    const root = newRepository({ 'a.txt': 'one\n', 'b.txt': 'one\n' })
    write(root, 'a.txt', 'staged\n')
    git(root, 'add', 'a.txt')
    write(root, 'a.txt', 'working\n')
    git(root, 'rm', '-q', '--cached', 'b.txt')
    write(root, 'c.txt', 'intended\n')
    git(root, 'add', '--intent-to-add', 'c.txt')
    const kept = checkpointUnchanged(root)
    expect(git(root, 'show', `${kept.commit}:a.txt`)).toBe('working')
    expect(git(root, 'show', `${kept.commit}:b.txt`)).toBe('one')
    expect(git(root, 'show', `${kept.commit}:c.txt`)).toBe('intended')
  })

  test('a change of the same size right after staging is seen', () => {
    for (let i = 0; i < 10; i += 1) {
      const root = newRepository()
      write(root, 'a.txt', 'aaa\n')
      git(root, 'add', 'a.txt')
      write(root, 'a.txt', 'bbb\n')
      expect(git(root, 'show', `${checkpointUnchanged(root).commit}:a.txt`)).toBe('bbb')
    }
  })

  test('a conflict stays a conflict, and its working file is saved', () => {
    const root = newRepository({ 'a.txt': 'one\n', 'b.txt': 'one\n', '.sessions/doc.md': 'one\n' })
    git(root, 'switch', '-q', '-c', 'side')
    for (const path of ['a.txt', 'b.txt', '.sessions/doc.md']) write(root, path, 'side\n')
    git(root, 'commit', '-q', '-a', '-m', 'side')
    git(root, 'switch', '-q', 'main')
    for (const path of ['a.txt', '.sessions/doc.md']) write(root, path, 'main\n')
    git(root, 'rm', '-q', 'b.txt')
    git(root, 'commit', '-q', '-a', '-m', 'main')
    expect(() => git(root, 'merge', '-q', 'side')).toThrow()
    rmSync(join(root, 'b.txt'))
    const kept = checkpointUnchanged(root)
    expect(git(root, 'show', `${kept.commit}:a.txt`)).toContain('<<<<<<< HEAD')
    expect(filesOf(root, kept.commit)).toEqual(['100644 .sessions/doc.md', '100644 a.txt'])
  })

  test('file modes and symbolic links are saved', () => {
    const root = newRepository({ 'run.sh': 'x\n', 'lib/a.txt': 'a\n' })
    chmodSync(join(root, 'run.sh'), 0o755)
    symlinkSync('nowhere', join(root, 'dangling'))
    renameSync(join(root, 'lib'), join(root, 'real'))
    symlinkSync('real', join(root, 'lib'))
    expect(filesOf(root, checkpointUnchanged(root).commit)).toEqual([
      '120000 dangling',
      '120000 lib',
      '100644 real/a.txt',
      '100755 run.sh',
    ])
  })

  test('a file that became a folder, and a folder that became a file, are saved as they are now', () => {
    const root = newRepository({ file: 'x\n', 'folder/a.txt': 'x\n' })
    rmSync(join(root, 'file'))
    rmSync(join(root, 'folder'), { recursive: true })
    write(root, 'file/inner.txt', 'x\n')
    write(root, 'folder', 'x\n')
    expect(filesOf(root, checkpointUnchanged(root).commit)).toEqual([
      '100644 file/inner.txt',
      '100644 folder',
    ])
  })

  test('the excluded folder is not saved, ignored or not', () => {
    const root = newRepository()
    write(root, '.sessions/journal/log.jsonl', '{}\n')
    write(root, '.sessions-other/a.txt', 'x\n')
    write(root, 'own/b.txt', 'x\n')
    expect(filesOf(root, checkpointUnchanged(root).commit)).toEqual([
      '100644 .sessions-other/a.txt',
      '100644 a.txt',
      '100644 own/b.txt',
    ])
    write(root, '.sessions/.gitignore', '*\n')
    const kept = checkpointUnchanged(root, { exclude: ['.sessions', 'own/'] })
    expect(filesOf(root, kept.commit)).toEqual(['100644 .sessions-other/a.txt', '100644 a.txt'])
  })

  test('a large untracked file is left out and listed, a tracked one is saved', () => {
    const root = newRepository({ 'tracked.bin': 'x' })
    write(root, 'tracked.bin', 'x'.repeat(2000))
    write(root, 'big ü.bin', 'x'.repeat(2000))
    write(root, 'small.bin', 'x'.repeat(1000))
    const kept = checkpointUnchanged(root, { maxFileBytes: 1000 })
    expect(kept.leftOut).toEqual(['big ü.bin'])
    expect(filesOf(root, kept.commit)).toEqual(['100644 small.bin', '100644 tracked.bin'])
  })

  test('a nested repository is left out and listed, with or without commits', () => {
    const root = newRepository()
    newRepository({ 'x.txt': 'x\n' }, join(root, 'nested'))
    mkdirSync(join(root, 'empty'))
    git(join(root, 'empty'), 'init', '-q')
    const kept = checkpointUnchanged(root)
    expect(kept.leftOut).toEqual(['empty/', 'nested/'])
    expect(filesOf(root, kept.commit)).toEqual(['100644 a.txt'])
  })

  test('a submodule is saved by its commit, and its own changes are listed', () => {
    const library = newRepository({ 'lib.txt': 'one\n' })
    const root = newRepository()
    git(root, 'submodule', '--quiet', 'add', library, 'lib')
    git(root, 'commit', '-q', '-m', 'with lib')
    git(join(root, 'lib'), 'commit', '-q', '--allow-empty', '-m', 'further')
    const clean = checkpointUnchanged(root)
    expect(git(root, 'rev-parse', `${clean.commit}:lib`)).toBe(
      git(join(root, 'lib'), 'rev-parse', 'HEAD'),
    )
    expect(clean.leftOut).toEqual([])
    write(root, 'lib/lib.txt', 'changed\n')
    expect(checkpointUnchanged(root).leftOut).toEqual(['lib'])
  })

  test('files outside a sparse checkout stay in the checkpoint', () => {
    const root = newRepository({ 'in/a.txt': 'a\n', 'out/b.txt': 'b\n' })
    git(root, 'sparse-checkout', 'set', '--cone', '--sparse-index', 'in')
    expect(existsSync(join(root, 'out/b.txt'))).toBe(false)
    write(root, 'in/a.txt', 'changed\n')
    expect(filesOf(root, checkpointUnchanged(root).commit)).toEqual([
      '100644 in/a.txt',
      '100644 out/b.txt',
    ])
  })

  test('a split index is read and not changed', () => {
    const root = newRepository()
    git(root, 'update-index', '--split-index')
    write(root, 'b.txt', 'b\n')
    git(root, 'add', 'b.txt')
    write(root, 'c.txt', 'c\n')
    expect(filesOf(root, checkpointUnchanged(root).commit)).toEqual([
      '100644 a.txt',
      '100644 b.txt',
      '100644 c.txt',
    ])
  })

  test('a file name that is not UTF-8 is saved, or left out for its size, like any other', () => {
    const root = newRepository()
    const name = (byte: number) => Buffer.concat([Buffer.from(`${root}/n-`), Buffer.from([byte])])
    writeFileSync(name(0xff), 'kept')
    writeFileSync(name(0xfe), 'x'.repeat(100))
    // The file comparison reads names as text, which these are not.
    const kept = checkpointCode(repositoryAt(root), {
      ref: 'refs/stint/test/1',
      message: 'checkpoint',
      maxFileBytes: 50,
    })
    expect(git(root, 'ls-tree', '--name-only', kept.commit)).toBe('a.txt\n"n-\\377"')
    expect(kept.leftOut).toHaveLength(1)
  })

  test('a checkpoint on a branch without commits has no parent', () => {
    const root = temporaryFolder()
    git(root, 'init', '-q', '-b', 'main')
    write(root, 'a.txt', 'a\n')
    const kept = checkpointUnchanged(root)
    expect(git(root, 'rev-list', '--parents', kept.commit)).toBe(kept.commit)
    expect(filesOf(root, kept.commit)).toEqual(['100644 a.txt'])
  })

  test('a clean worktree needs no new commit', () => {
    const root = newRepository()
    write(root, 'a.txt', 'two\n')
    git(root, 'stash', '-q')
    expect(checkpointUnchanged(root).commit).toBe(git(root, 'rev-parse', 'HEAD'))
  })

  test('a linked worktree saves its own files under the shared refs', () => {
    const root = newRepository()
    const linked = join(temporaryFolder(), 'side')
    git(root, 'worktree', 'add', '-q', '-b', 'side', linked)
    write(linked, 'side.txt', 'x\n')
    const kept = checkpointUnchanged(linked)
    expect(filesOf(root, 'refs/stint/test/1')).toEqual(['100644 a.txt', '100644 side.txt'])
    expect(git(root, 'rev-parse', 'refs/stint/test/1')).toBe(kept.commit)
  })

  test('hooks, signing and a missing user name do not interfere', () => {
    const root = newRepository()
    for (const hook of [
      'pre-commit',
      'post-commit',
      'reference-transaction',
      'post-index-change',
      'post-checkout',
    ]) {
      write(root, `.git/hooks/${hook}`, '#!/bin/sh\ntouch hook-ran\nexit 1\n')
      chmodSync(join(root, '.git/hooks', hook), 0o755)
    }
    for (const setting of ['commit.gpgSign', 'user.useConfigOnly', 'core.safecrlf'])
      git(root, 'config', setting, 'true')
    git(root, 'config', 'core.autocrlf', 'input')
    write(root, 'b.txt', 'windows\r\n')
    const kept = checkpointUnchanged(root, { message: 'größe\0 of it\n\nbody' })
    expect(git(root, 'log', '-1', '--format=%an %ae %B', kept.commit)).toBe(
      'Stint stint@localhost größe of it\n\nbody',
    )
    expect(existsSync(join(root, 'hook-ran'))).toBe(false)
  })

  test('a commit date in the environment does not date the checkpoint', () => {
    const root = newRepository()
    write(root, 'b.txt', 'b\n')
    process.env['GIT_AUTHOR_DATE'] = '1000000000 +0000'
    try {
      expect(git(root, 'log', '-1', '--format=%at', checkpointUnchanged(root).commit)).not.toBe(
        '1000000000',
      )
    } finally {
      delete process.env['GIT_AUTHOR_DATE']
    }
  })

  test.each(['refs/heads/main', 'refs/stint/../heads/main', 'refs/stint/', 'HEAD', '--stdin'])(
    '%s is refused as a name',
    (ref) => {
      const root = newRepository()
      expect(() => checkpointUnchanged(root, { ref })).toThrow(/is not a name for kept code/)
    },
  )

  test('the same ref is moved to the newer code', () => {
    const root = newRepository()
    write(root, 'a.txt', 'two\n')
    checkpointUnchanged(root)
    write(root, 'a.txt', 'three\n')
    expect(git(root, 'show', `${checkpointUnchanged(root).ref}:a.txt`)).toBe('three')
  })

  test('a failed checkpoint leaves no ref and no temporary index', () => {
    const root = newRepository()
    write(root, 'b.txt', 'b\n')
    git(root, 'config', 'filter.broken.clean', 'false')
    git(root, 'config', 'filter.broken.required', 'true')
    write(root, '.gitattributes', 'b.txt filter=broken\n')
    expect(() => checkpointUnchanged(root)).toThrow(/git update-index failed/)
    expect(
      readdirSync(join(root, '.git')).filter((name) => name.startsWith('stint-index')),
    ).toEqual([])
  })
})

describe('untracked files with secrets', () => {
  const KEY = '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n'

  test.each([
    ['.env', 'A=1\n'],
    ['.env.local', 'A=1\n'],
    ['packages/api/.ENV.production', 'A=1\n'],
    ['.envrc', 'export A=1\n'],
    ['id_rsa', 'x\n'],
    ['keys/id_ed25519', 'x\n'],
    ['id_rsa.old', 'x\n'],
    ['tls.pem', `certificate first\n${KEY}`],
    ['server.key', 'x\n'],
    ['cert.p12', 'x\n'],
    ['cert.pfx', 'x\n'],
    ['store.jks', 'x\n'],
    ['putty.ppk', 'x\n'],
    ['.netrc', 'machine a password b\n'],
    ['.pgpass', 'a:b:c:d:e\n'],
    ['.npmrc', '//registry.npmjs.org/:_authToken=abc\n'],
    ['.pypirc', '[pypi]\npassword = abc\n'],
    ['.docker/config.json', '{"auths":{"a":{"auth":"abc"}}}\n'],
    ['.git-credentials', 'https://a:b@example.com\n'],
    ['.aws/credentials', '[default]\n'],
    ['credentials.json', '{}\n'],
    ['service-account-prod.json', '{}\n'],
    ['deploy-key-without-a-telling-name', `\n${KEY}`],
    ['größe/.env', 'A=1\n'],
  ])('%s is left out of a checkpoint, listed, and stays where it is', (path, content) => {
    const root = newRepository()
    write(root, path, content)
    write(root, 'b.txt', 'b\n')
    const kept = checkpointUnchanged(root)
    expect(filesOf(root, kept.commit)).toEqual(['100644 a.txt', '100644 b.txt'])
    expect(kept.secrets).toEqual([path])
    expect(existsSync(join(root, path))).toBe(true)
  })

  test.each([
    ['.env.example', 'A=\n'],
    ['.env.sample', 'A=\n'],
    ['.env.template', 'A=\n'],
    ['id_rsa.pub', 'ssh-rsa AAAA\n'],
    ['ca.pem', '-----BEGIN CERTIFICATE-----\n'],
    ['.npmrc', 'engine-strict=true\n'],
    ['credentials.ts', 'export {}\n'],
    ['config.json', '{"auth": {"kind": "oauth"}}\n'],
    ['environment.ts', 'export {}\n'],
    ['keys.test.ts', `const key = \`${KEY}\`\n`],
  ])('%s is no secret and is saved', (path, content) => {
    const root = newRepository()
    write(root, path, content)
    const kept = checkpointUnchanged(root)
    expect(filesOf(root, kept.commit)).toContain(`100644 ${path}`)
    expect(kept.secrets).toEqual([])
  })

  test('a tracked one is saved with its changes', () => {
    const root = newRepository({ '.env': 'A=1\n' })
    write(root, '.env', 'A=2\n')
    const kept = checkpointUnchanged(root)
    expect(git(root, 'show', `${kept.commit}:.env`)).toBe('A=2')
    expect(kept.secrets).toEqual([])
  })

  test('no object of one is written at all', () => {
    const root = newRepository()
    write(root, '.env', 'PASSWORD=unique-5d1f\n')
    const hash = git(root, 'hash-object', '.env')
    checkpointUnchanged(root)
    expect(() => git(root, 'cat-file', '-e', hash)).toThrow()
  })
})

describe('a power cut right after a checkpoint', () => {
  /** What git itself counts: flushes to the disk, by the arguments of each git process. */
  function flushesDuring(act: () => unknown) {
    const trace = join(temporaryFolder('trace'), 'events')
    process.env['GIT_TRACE2_EVENT'] = trace
    try {
      act()
    } finally {
      delete process.env['GIT_TRACE2_EVENT']
    }
    const events = readFileSync(trace, 'utf8').trim().split('\n')
    const commands = new Map<string, string>()
    const flushes: Record<string, number> = {}
    for (const event of events.map((line) => JSON.parse(line) as Record<string, unknown>)) {
      const sid = String(event['sid'])
      if (event['event'] === 'cmd_name') commands.set(sid, String(event['name']))
      if (event['category'] === 'fsync' && event['key'] === 'fsync/hardware-flush')
        flushes[commands.get(sid)!] = (flushes[commands.get(sid)!] ?? 0) + Number(event['value'])
    }
    return flushes
  }

  test('loses nothing: git flushes every new object, the tree, the commit and the reference', () => {
    const root = newRepository()
    for (let file = 0; file < 5; file += 1) write(root, `new/${file}.txt`, `${file}\n`)
    const flushes = flushesDuring(() => checkpointUnchanged(root))
    expect(flushes['update-index']).toBeGreaterThanOrEqual(5)
    expect(flushes['write-tree']).toBeGreaterThanOrEqual(2)
    expect(flushes['commit-tree']).toBeGreaterThanOrEqual(1)
    expect(flushes['update-ref']).toBeGreaterThanOrEqual(1)
  })

  test('loses nothing although the user turned flushing off', () => {
    const root = newRepository()
    git(root, 'config', 'core.fsync', 'none')
    git(root, 'config', 'core.fsyncMethod', 'writeout-only')
    write(root, 'b.txt', 'b\n')
    expect(flushesDuring(() => checkpointUnchanged(root))['update-ref']).toBeGreaterThanOrEqual(1)
  })
})
