// As git does, a project that another user owns is refused: its files could make Stint act for them.
import { lstatSync } from 'node:fs'
import { StintError } from '../journal/errors.ts'
import { programOutside } from './program-outside.ts'

const TIMEOUT_MS = 5_000

/** Who runs this process, as far as ownership counts. */
export interface ProcessOwner {
  readonly uid: number
  /** Who ran `sudo`, whose projects root may use. */
  readonly sudoUid?: number
}

/** Undefined on Windows, which has no such ids. */
function processOwner(): ProcessOwner | undefined {
  const uid = process.geteuid?.()
  if (uid === undefined) return undefined
  const { SUDO_UID: sudo = '' } = process.env
  return uid === 0 && /^\d{1,10}$/.test(sudo) ? { uid, sudoUid: Number(sudo) } : { uid }
}

/** Missing paths count as owned. `named` are the paths by which `safe.directory` may allow the project. */
export function requireOwnership(
  paths: readonly string[],
  named: readonly string[],
  owner: ProcessOwner | undefined = processOwner(),
): void {
  if (owner === undefined) return
  for (const path of paths) {
    const uid = lstatSync(path, { throwIfNoEntry: false })?.uid
    if (uid === undefined || uid === owner.uid || uid === owner.sudoUid) continue
    if (isSafeDirectory(named)) return
    throw new StintError(
      'NOT_OWNED',
      `${path} belongs to another user (id ${uid}, yours is ${owner.uid}), so Stint does not use it as a project`,
      `if you trust what it holds: git config --global --add safe.directory '${named[0]}'`,
    )
  }
}

/** Only what the user or the machine configured counts, never the repository itself. */
function isSafeDirectory(named: readonly string[]) {
  const ask = 'config --null --show-scope --type=path --get-all safe.directory'.split(' ')
  // Loaded only here: hooks come here too, and hardly ever this far.
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  const { GIT_DIR: _elsewhere, ...env } = process.env
  const git = programOutside('git', env.PATH, named)
  if (git === undefined) return false
  const { stdout } = spawnSync(git, ask, { cwd: '/', env, encoding: 'utf8', timeout: TIMEOUT_MS })
  const words = (stdout ?? '').split('\0')
  let isSafe = false
  for (let at = 0; at + 1 < words.length; at += 2) {
    const value = words[at + 1]!
    if (words[at] === 'local' || words[at] === 'worktree') continue
    // An empty value clears those before it, as in git.
    if (value === '') isSafe = false
    else if (value === '*' || named.some((path) => isNamedBy(value, path))) isSafe = true
  }
  return isSafe
}

function isNamedBy(value: string, path: string) {
  return value.endsWith('/*') ? path.startsWith(value.slice(0, -1)) : value === path
}
