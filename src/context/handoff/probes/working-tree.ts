import { type Verdict, couldNotBeChecked, unverified, verified } from './claim.ts'
import type { Surroundings } from './surroundings.ts'

/** Whether nothing is uncommitted. */
export function probeClean(now: Surroundings): Verdict {
  const { dirty } = now
  if (dirty === undefined) return notKnown(now)
  return dirty.length === 0
    ? verified('working tree', now.head.commit)
    : unverified(`uncommitted: ${some(dirty)}`)
}

/** Whether just these files are uncommitted. */
export function probeDirty(now: Surroundings, paths: readonly string[]): Verdict {
  const { dirty } = now
  if (dirty === undefined) return notKnown(now)
  const settled = paths.filter((path) => !dirty.includes(path))
  if (settled.length > 0) return unverified(`no longer uncommitted: ${some(settled)}`)
  const others = dirty.filter((path) => !paths.includes(path))
  if (others.length > 0) return unverified(`uncommitted too: ${some(others)}`)
  return verified('working tree', now.head.commit)
}

function notKnown({ repository, whyUnknown }: Surroundings): Verdict {
  return couldNotBeChecked(
    repository === undefined
      ? 'there is no git repository here'
      : (whyUnknown ?? 'git did not say'),
  )
}

function some(paths: readonly string[]): string {
  const more = paths.length > 3 ? ` and ${paths.length - 3} more` : ''
  return `${paths.slice(0, 3).join(', ')}${more}`
}
