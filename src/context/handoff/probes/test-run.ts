import { lstatSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { RawEntry } from '../../../session/in-effect.ts'
import { type Verdict, couldNotBeChecked, unverified, verified } from './claim.ts'
import type { Surroundings } from './surroundings.ts'

// File systems tell time in ticks of a few milliseconds, and a tick may be just over when an entry is written.
const TICK_MS = 20

const CHANGING = new Set(['file.changed', 'commit.made'])

/**
 * Whether a command last passed, and nothing changed since. The run itself is in the journal; that neither HEAD, the index
 * nor a file moved after it is read from their times, which no later edit can turn back.
 */
export function probeTestRun(
  now: Surroundings,
  command: string,
  /** All entries in effect, in order. */
  entries: readonly RawEntry[],
  /** Files that the session changed, uncommitted or not. */
  changed: readonly string[] = [],
): Verdict {
  const at = entries.findLastIndex(
    ({ kind, data }) => kind === 'test.ran' && data.command === command,
  )
  const run = entries[at]
  if (run === undefined) return unverified('no run of it is recorded')
  if (run.data.passed !== true) return unverified('it failed when it last ran; run it again')
  if (now.repository === undefined)
    return couldNotBeChecked('there is no git repository to tell what changed since')
  if (now.dirty === undefined)
    return couldNotBeChecked(now.whyUnknown ?? 'git did not say what changed')
  const ranAt = Date.parse(run.at)
  if (Number.isNaN(ranAt)) return couldNotBeChecked('when it ran is not known')
  const { gitDir } = now.repository
  const headMovedAt = changedAt(join(gitDir, 'logs', 'HEAD'))
  if (headMovedAt === undefined) return couldNotBeChecked('git keeps no record of when HEAD moved')
  const isLater = (time: number | undefined) => time !== undefined && time > ranAt - TICK_MS
  const moved = [
    isLater(headMovedAt) ? 'HEAD' : undefined,
    isLater(changedAt(join(gitDir, 'index'))) ? 'the index' : undefined,
    ...[...now.dirty, ...changed].map((path) =>
      isLater(lastTouched(now.root, path)) ? path : undefined,
    ),
    entries.slice(at + 1).some(({ kind }) => CHANGING.has(kind))
      ? 'what the journal tells'
      : undefined,
  ].find((what) => what !== undefined)
  return moved === undefined
    ? verified('test run', now.head.commit)
    : unverified(`${moved} changed since; run it again`)
}

/** When a file last changed; for one that is gone, when the folder did that it was in. */
function lastTouched(root: string, path: string): number | undefined {
  for (let place = resolve(root, path); ; place = dirname(place)) {
    const time = changedAt(place)
    if (time !== undefined || place === dirname(place)) return time
  }
}

// The time of change and not that of modification, which tools set as they like.
function changedAt(path: string): number | undefined {
  return lstatSync(path, { throwIfNoEntry: false })?.ctimeMs
}
