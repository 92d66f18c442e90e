import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadProjectContext } from '../../src/context/survey/project-context.ts'
import { readProjectContext } from '../../src/context/survey/cached-project-context.ts'
import { git, newRepository, repositoryAt, temporaryFolder, write } from '../git/world.ts'
import { bundleProgram } from '../support/bundle.ts'

const files = { 'package.json': '{"name":"one"}', 'tsconfig.json': '{}', 'src/a.ts': '' }

function made() {
  const root = newRepository(files)
  const { text } = loadProjectContext(repositoryAt(root), { withoutSecrets: (each) => each })
  return {
    root,
    text,
    kept: join(root, '.git', 'stint', 'project-context.json'),
    read: () => readProjectContext({ repository: repositoryAt(root) }),
  }
}

describe('the quick reader of a project', () => {
  test('gives what a command kept', () => {
    const { read, text } = made()
    expect(text).toContain('Project: one')
    expect(read()).toBe(text)
  })

  test('gives nothing where nothing is kept, and outside a repository', () => {
    expect(readProjectContext({ repository: repositoryAt(newRepository(files)) })).toBeUndefined()
    expect(readProjectContext({ repository: undefined })).toBeUndefined()
  })

  test.each<[string, (root: string, kept: string) => void]>([
    ['HEAD moved', (root) => git(root, 'commit', '-q', '--allow-empty', '-m', 'x')],
    ['another branch is checked out', (root) => git(root, 'switch', '-q', '--orphan', 'other')],
    ['a file it came from is another', (root) => write(root, 'package.json', '{"name":"other"}')],
    [
      'a file it came from has another size, and the same time',
      (root) =>
        spawnSync(
          'bash',
          ['-c', 'touch -r package.json t; echo >> package.json; touch -r t package.json'],
          { cwd: root },
        ),
    ],
    [
      'a file it came from has another time',
      (root) => utimesSync(join(root, 'tsconfig.json'), 1, 1),
    ],
    ['a file it came from is gone', (root) => rmSync(join(root, 'tsconfig.json'))],
    [
      'it was changed by hand',
      (_, kept) =>
        writeFileSync(kept, readFileSync(kept, 'utf8').replace('Project: one', 'Project: two')),
    ],
    [
      'it is half a file',
      (_, kept) => writeFileSync(kept, readFileSync(kept, 'utf8').slice(0, 50)),
    ],
    [
      'it is of another wording',
      (_, kept) => writeFileSync(kept, readFileSync(kept, 'utf8').replace('"form":1', '"form":0')),
    ],
    ['it is something else', (_, kept) => writeFileSync(kept, '[1]')],
  ])('gives nothing when %s', (_, change) => {
    const { root, kept, read } = made()
    change(root, kept)
    expect(read()).toBeUndefined()
  })

  test('gives it again once a command has found it to hold', () => {
    const { root, read, text } = made()
    utimesSync(join(root, 'tsconfig.json'), 1, 1)
    expect(read()).toBeUndefined()
    loadProjectContext(repositoryAt(root), { withoutSecrets: (each) => each })
    expect(read()).toBe(text)
  })

  test('starts no process and sums no file', async () => {
    const { root, text } = made()
    const source = new URL('../../src', import.meta.url).pathname
    const folder = temporaryFolder('stint-quick-')
    writeFileSync(
      join(folder, 'quick.ts'),
      `import { readProjectContext } from '${source}/context/survey/remembered.ts'
       import { findRepository } from '${source}/git/repository.ts'
       const text = readProjectContext({ repository: findRepository(process.argv[2]!) })
       const loaded = process.moduleLoadList.flatMap((name: string) => /^NativeModule (.*)$/.exec(name)?.[1] ?? [])
       process.stdout.write(JSON.stringify({ text, loaded }))`,
    )
    await bundleProgram(join(folder, 'quick.ts'), join(folder, 'quick.mjs'))
    // Without a PATH no git could be found.
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
