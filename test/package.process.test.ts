import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { program, terminal } from './support/cli.ts'

const root = dirname(dirname(program))

interface Packed {
  readonly size: number
  readonly files: readonly { readonly path: string }[]
}

describe('the package', () => {
  test('holds at most 80 files and 1.6 MB without docs, and one type file', () => {
    const { stdout } = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: root,
      encoding: 'utf8',
    })
    const [packed] = JSON.parse(stdout) as [Packed]
    const files = packed.files.map(({ path }) => path).filter((path) => !path.startsWith('docs/'))
    expect(files.length).toBeLessThanOrEqual(80)
    expect(packed.size).toBeLessThanOrEqual(1_600_000)
    expect(files.filter((path) => path.endsWith('.d.ts'))).toEqual(['dist/library.d.ts'])
  })

  test('declares a type for everything it exports', async () => {
    const library = (await import(join(root, 'dist', 'library.mjs'))) as object
    const types = readFileSync(join(root, 'dist', 'library.d.ts'), 'utf8')
    const exported = /export \{([^}]*)\};?\s*$/.exec(types)![1]!
    const names = new Set(
      exported.split(',').map((name) => name.trim().replace(/^(?:type |.* as )/, '')),
    )
    expect(Object.keys(library)).toContain('openProject')
    expect(Object.keys(library).filter((name) => !names.has(name))).toEqual([])
  })
})

describe('a command', () => {
  test('caches its compiled code, and works the same with and without the cache', () => {
    const world = terminal()
    const state = join(world.folder, 'compiled-state')
    const env = { ...world.env, STINT_STATE_HOME: state }
    const help = () => {
      const args = [program, 'list', '--help']
      return spawnSync(process.execPath, args, { cwd: world.cwd, env, encoding: 'utf8' })
    }
    const first = help()
    const kept = readdirSync(join(state, 'compiled'))
    expect(kept).toEqual([expect.stringMatching(/^program-.*\.list\./)])
    expect(help()).toMatchObject({ status: 0, stdout: first.stdout })
    expect(readdirSync(join(state, 'compiled'))).toEqual(kept)
  })
})
