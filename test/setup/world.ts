import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { terminal } from '../support/cli.ts'

/** A project, the command line in it, and its files. */
export function setupWorld(options: { git?: boolean } = {}) {
  const world = terminal(options)
  const at = (...parts: string[]) => join(world.cwd, ...parts)
  const write = (path: string, text: string | Buffer) => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  const read = (path: string) => readFileSync(path, 'utf8')
  return {
    ...world,
    at,
    write,
    read,
    local: at('.claude', 'settings.local.json'),
    shared: at('.claude', 'settings.json'),
    user: join(world.folder, '.claude', 'settings.json'),
    exclude: at('.git', 'info', 'exclude'),
    settings: (path: string) =>
      JSON.parse(read(path)) as { hooks: Record<string, unknown[]>; statusLine?: unknown },
    // Without the lock, git does not rewrite the index, which is compared below.
    status: () =>
      world.git('--no-optional-locks', 'status', '--porcelain', '--untracked-files=all'),
    /** Every file of the machine, with its bytes. */
    everything: () => contentsOf(world.folder),
  }
}

function contentsOf(folder: string): Readonly<Record<string, string>> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => existsSync(path))
  const entries = files.map((path) => [
    relative(folder, path),
    statSync(path).isDirectory() ? 'folder' : readFileSync(path, 'latin1'),
  ])
  return Object.fromEntries(entries.toSorted())
}
