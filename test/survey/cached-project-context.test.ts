import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadProjectContext } from '../../src/context/survey/project-context.ts'
import { readProjectContext } from '../../src/context/survey/cached-project-context.ts'
import { git, newRepository, repositoryAt, temporaryFolder, write } from '../git/world.ts'
import { bundleProgram } from '../support/bundle.ts'

const files = { 'package.json': '{"name":"one"}', 'tsconfig.json': '{}', 'src/a.ts': '' }

function repositoryWithCache() {
  const root = newRepository(files)
  const { text } = loadProjectContext(repositoryAt(root), { withoutSecrets: (each) => each })
  return {
    root,
    text,
    kept: join(root, '.git', 'stint', 'project-context.json'),
    read: () => readProjectContext({ repository: repositoryAt(root) }),
  }
}

describe('the cached project context', () => {
  test('is what a command stored', () => {
    const { read, text } = repositoryWithCache()
    expect(text).toContain('Project: one')
    expect(read()).toBe(text)
  })

  test('is absent without a cache file and outside a repository', () => {
    expect(readProjectContext({ repository: repositoryAt(newRepository(files)) })).toBeUndefined()
    expect(readProjectContext({ repository: undefined })).toBeUndefined()
  })

  test.each<[string, (root: string, kept: string) => void]>([
    ['HEAD moved', (root) => git(root, 'commit', '-q', '--allow-empty', '-m', 'x')],
    ['another branch is checked out', (root) => git(root, 'switch', '-q', '--orphan', 'other')],
    ['a source file was changed', (root) => write(root, 'package.json', '{"name":"other"}')],
    [
      'a source file has another size and the same mtime',
      (root) =>
        spawnSync(
          'bash',
          ['-c', 'touch -r package.json t; echo >> package.json; touch -r t package.json'],
          { cwd: root },
        ),
    ],
    ['a source file has another mtime', (root) => utimesSync(join(root, 'tsconfig.json'), 1, 1)],
    ['a source file is gone', (root) => rmSync(join(root, 'tsconfig.json'))],
    [
      'it was edited by hand',
      (_, kept) =>
        writeFileSync(kept, readFileSync(kept, 'utf8').replace('Project: one', 'Project: two')),
    ],
    ['it is truncated', (_, kept) => writeFileSync(kept, readFileSync(kept, 'utf8').slice(0, 50))],
    [
      'it has another format version',
      (_, kept) => writeFileSync(kept, readFileSync(kept, 'utf8').replace('"form":1', '"form":0')),
    ],
    ['it is something else', (_, kept) => writeFileSync(kept, '[1]')],
  ])('is absent when %s', (_, change) => {
    const { root, kept, read } = repositoryWithCache()
    change(root, kept)
    expect(read()).toBeUndefined()
  })

  test('is valid again once a command has confirmed it', () => {
    const { root, read, text } = repositoryWithCache()
    utimesSync(join(root, 'tsconfig.json'), 1, 1)
    expect(read()).toBeUndefined()
    loadProjectContext(repositoryAt(root), { withoutSecrets: (each) => each })
    expect(read()).toBe(text)
  })

  test('is read without starting a process or hashing a file', async () => {
    const { root, text } = repositoryWithCache()
    const source = new URL('../../src', import.meta.url).pathname
    const folder = temporaryFolder('stint-quick-')
    writeFileSync(
      join(folder, 'quick.ts'),
      `import { readProjectContext } from '${source}/context/survey/cached-project-context.ts'
       import { findRepository } from '${source}/git/repository.ts'
       const text = readProjectContext({ repository: findRepository(process.argv[2]!) })
       const loaded = process.moduleLoadList.flatMap((name: string) => /^NativeModule (.*)$/.exec(name)?.[1] ?? [])
       process.stdout.write(JSON.stringify({ text, loaded }))`,
    )
    await bundleProgram(join(folder, 'quick.ts'), join(folder, 'quick.mjs'))
    // Without PATH git cannot be found.
    const ran = spawnSync(process.execPath, [join(folder, 'quick.mjs'), root], {
      encoding: 'utf8',
      env: { PATH: '' },
    })
    const { text: given, loaded } = JSON.parse(ran.stdout) as { text: string; loaded: string[] }
    expect(given).toBe(text)
    expect(loaded).toContain('fs')
    for (const name of ['crypto', 'child_process', 'zlib']) expect(loaded).not.toContain(name)
  })
})
