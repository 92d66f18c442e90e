// Who opens a session for a branch. An agent may edit several files at once, and two people or agents may begin at once on one
// branch: one session is enough, and whoever comes second finds it.
import { join } from 'node:path'
import { errnoOf } from '../../journal/errors.ts'
import { createFile, removeFile } from '../../journal/files.ts'
import { readOrUndefined, statOrUndefined } from '../../journal/look.ts'
import { randomHex } from '../../journal/random.ts'
import { checksum } from '../../journal/record.ts'
import type { Place } from './place.ts'

const STALE_MS = 5_000
const LOOK_EVERY_MS = 20

export interface OpeningClaim {
  release(): void
}

/** The right to open a session for a branch, or undefined while another has it. Never waits. */
export function claimOpening(
  { repository, sessions }: Place,
  branch: string | undefined,
): OpeningClaim | undefined {
  const here = JSON.stringify([branch, repository?.worktree])
  const path = join(sessions, `opening-${checksum(Buffer.from(here))}`)
  const owner = `${process.pid} ${randomHex(8)}`
  const release = () => {
    // Somebody may have taken it over from one who was at it for too long.
    if (readOrUndefined(path)?.toString('utf8') === owner) removeFile(path)
  }
  if (createFile(path, owner)) return { release }
  if (isHeld(path)) return undefined
  removeFile(path)
  return createFile(path, owner) ? { release } : undefined
}

/** Does what opens a session when nobody else is at it. Whoever is has it for a moment only, and is waited for. */
export async function whileOpening<T>(
  place: Place,
  branch: string | undefined,
  work: () => Promise<T>,
): Promise<T> {
  let claim = claimOpening(place, branch)
  for (; claim === undefined; claim = claimOpening(place, branch)) await aMoment()
  try {
    return await work()
  } finally {
    claim.release()
  }
}

// By itself, since hooks load this file too and have no use for a module that waits.
function aMoment(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
}

/** Whoever made it is alive, and at it for no longer than opening can take, by any clock. */
function isHeld(path: string): boolean {
  const age = Math.abs(Date.now() - (statOrUndefined(path)?.mtimeMs ?? 0))
  if (age > STALE_MS) return false
  const owner = Number.parseInt(readOrUndefined(path)?.toString('utf8') ?? '', 10)
  try {
    return owner > 0 && process.kill(owner, 0)
  } catch (error) {
    return errnoOf(error) === 'EPERM'
  }
}
