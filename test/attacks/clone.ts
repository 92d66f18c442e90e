// A machine with a fresh clone of a stranger's repository.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { program, terminal } from '../support/cli.ts'

type Files = Readonly<Record<string, string>>

/** The user's machine with a fresh clone of a repository that holds `files`, written by someone else. */
export function clone(
  files: Files,
  prepare: (stranger: ReturnType<typeof machine>) => void = () => {},
) {
  const stranger = machine()
  prepare(stranger)
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(stranger.cwd, path)), { recursive: true })
    writeFileSync(join(stranger.cwd, path), text)
  }
  stranger.git('add', '--force', '.')
  stranger.git('commit', '-qm', 'everything', '--allow-empty')
  const user = machine()
  execFileSync('git', ['clone', '-q', stranger.cwd, join(user.folder, 'clone')], { env: user.env })
  return user.in(join(user.folder, 'clone'))
}

export function machine() {
  const world = terminal()
  const inFolder = (cwd: string) => ({
    ...world,
    cwd,
    start: (args: readonly string[], env: NodeJS.ProcessEnv = {}, input = '') =>
      spawnSync(process.execPath, [program, ...args], {
        cwd,
        env: { ...world.env, ...env },
        encoding: 'utf8',
        input,
      }),
    path: (...parts: string[]) => join(cwd, ...parts),
  })
  return { ...inFolder(world.cwd), in: inFolder }
}
