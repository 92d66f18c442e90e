// One session per branch, even when several agents or people start at once.
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

/** Undefined while another process has the claim. Never waits. */
export function claimOpening(
  { repository, sessions }: Place,
  branch: string | undefined,
): OpeningClaim | undefined {
  const here = JSON.stringify([branch, repository?.worktree])
  const path = join(sessions, `opening-${checksum(Buffer.from(here))}`)
  const owner = `${process.pid} ${randomHex(8)}`
  const release = () => {
    // Another process may have taken over a stale claim.
    if (readOrUndefined(path)?.toString('utf8') === owner) removeFile(path)
  }
  if (createFile(path, owner)) return { release }
  if (isHeld(path)) return undefined
  removeFile(path)
  return createFile(path, owner) ? { release } : undefined
}

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

// Not from a shared module: hooks load this file too.
function aMoment(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
}

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
