// The folder of the frozen project. It was written at this path, and records with checksums name it, so it is always
// restored to this path; a lock file makes two replays on one machine wait for each other.
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const repository = dirname(dirname(here))
export const fixtures = join(repository, 'test', 'fixtures')
export const archive = join(fixtures, 'frozen', 'project.tar.gz')

export const stage = '/tmp/stint-frozen'
export const project = join(stage, 'project')
export const home = join(stage, 'home')
export const state = join(stage, 'state')
const installed = join(stage, 'stint')
export const program = join(installed, 'dist', 'stint.js')
export const hookProgram = join(installed, 'dist', 'hook.cjs')
const clock = join(stage, 'clock.cjs')
/** The content of the archive; the rest of the stage comes from this checkout. */
export const KEPT = ['project', 'home', 'state']
/** Replaces the path of Node in the archive, which differs between machines. */
export const NODE = '/usr/bin/node-of-this-machine'

const TOOLS = [
  'git',
  'sh',
  'grep',
  'cat',
  'ls',
  'sleep',
  'true',
  'false',
  'env',
  'uname',
  'dirname',
  'sed',
]

/** Waits until no other process uses the stage, and returns a function that releases it. */
export async function lockStage() {
  const lock = `${stage}.lock`
  for (;;) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' })
      return () => rmSync(lock, { force: true })
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
    const owner = Number(readOr(lock, '0'))
    const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
    // A lock without a pid may be new; one whose process is gone is stale.
    if (age > 2_000 && !isAlive(owner)) rmSync(lock, { force: true })
    else await sleep(200)
  }
}

/** Creates an empty stage with this checkout's program. */
export function buildStage() {
  rmSync(stage, { recursive: true, force: true })
  for (const folder of ['bin', ...KEPT]) mkdirSync(join(stage, folder), { recursive: true })
  // A copy, not a link: Node resolves real paths, and no path of this checkout may appear in an output.
  for (const name of ['dist', 'package.json'])
    cpSync(join(repository, name), join(installed, name), { recursive: true })
  symlinkSync(join(repository, 'node_modules'), join(installed, 'node_modules'))
  cpSync(join(here, 'clock.cjs'), clock)
  symlinkSync(process.execPath, join(stage, 'bin', 'node'))
  for (const tool of TOOLS) {
    const path = ['/usr/bin', '/bin', '/usr/local/bin']
      .map((folder) => join(folder, tool))
      .find((path) => existsSync(path))
    if (path === undefined) throw new Error(`${tool} is not installed`)
    symlinkSync(path, join(stage, 'bin', tool))
  }
}

/** Restores the frozen project onto the stage. */
export function restoreProject() {
  for (const folder of KEPT) rmSync(join(stage, folder), { recursive: true, force: true })
  run('tar', ['-xzf', archive, '-C', stage])
  for (const path of filesWithNode()) replaceIn(path, NODE, process.execPath)
}

/** The only files that name the path of Node. None of them has a checksum. */
export function filesWithNode() {
  const runs = join(project, '.sessions', 'runs')
  const programs = readdirSync(runs).map((name) => join(runs, name, 'bin', 'stint'))
  return [join(state, 'launcher'), ...programs].filter((path) => existsSync(path))
}

export function replaceIn(path, from, to) {
  const { atime, mtime } = statSync(path)
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll(from, to))
  utimesSync(path, atime, mtime)
}

/** The complete environment of a process on the stage. */
export function environment(at) {
  const date = new Date(at).toISOString()
  return {
    PATH: join(stage, 'bin'),
    HOME: home,
    TZ: 'UTC',
    LANG: 'C.UTF-8',
    CI: 'true',
    STINT_STATE_HOME: state,
    CLAUDE_CONFIG_DIR: join(home, '.claude'),
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_SYSTEM: '/dev/null',
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_DATE: date,
    NODE_OPTIONS: `--require ${clock}`,
    FROZEN_SHIFT: String(at - Date.now()),
  }
}

/** Sets files written since `since` to the stage's time, because programs there see real file times. */
export function stampFiles(since, shift) {
  for (const folder of KEPT) {
    for (const entry of readdirSync(join(stage, folder), { recursive: true })) {
      const path = join(stage, folder, String(entry))
      const stat = lstatSync(path, { throwIfNoEntry: false })
      if (stat === undefined || stat.isSymbolicLink() || stat.mtimeMs < since) continue
      const at = (stat.mtimeMs + shift) / 1000
      utimesSync(path, at, at)
    }
  }
}

export function run(command, args, options = {}) {
  const result = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 1 << 28, ...options })
  if (result.status === 0) return result
  throw new Error(
    `${command} ${args.join(' ')} ended with ${result.status ?? result.signal ?? result.error}\n${result.stdout}${result.stderr}`,
  )
}

function isAlive(pid) {
  try {
    return pid > 0 && process.kill(pid, 0)
  } catch (error) {
    return error.code === 'EPERM'
  }
}

function readOr(path, fallback) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // Released in between.
    return fallback
  }
}
