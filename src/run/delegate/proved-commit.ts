// The commit that was proved stays, whatever becomes of the branch it was made on.
import { GitFailed } from '../../git/run-git.ts'
import { QUIETLY } from '../../git/working-tree.ts'
import type { Place } from '../../project/store/place.ts'
import { contains, hasCommit, inRepository } from '../merge/integration-tree.ts'

/** The name under which it is kept until it is merged or discarded. */
function provedRef(delegate: string): string {
  return `refs/stint/runs/${delegate}/proved`
}

export function keepProved(place: Place, delegate: string, commit: string | undefined): void {
  // A commit that somebody has collected by hand cannot be kept.
  if (commit === undefined || !hasCommit(place, commit)) return
  inRepository(
    place,
    ...QUIETLY,
    'update-ref',
    '-m',
    'stint: keep what is proved',
    provedRef(delegate),
    commit,
  )
}

/** Lets go of it where another commit, which is kept, has it in its history. */
export function letGoOfProved(place: Place, delegate: string, by: string): void {
  const proved = inRepository(
    place,
    'for-each-ref',
    '--format=%(objectname)',
    provedRef(delegate),
  ).trim()
  if (proved === '' || !contains(place, by, proved)) return
  try {
    inRepository(place, ...QUIETLY, 'update-ref', '-d', provedRef(delegate), proved)
  } catch (error) {
    // It moved in between; then it stays.
    if (!(error instanceof GitFailed)) throw error
  }
}

/** The commit to go by in place of the branch: it was proved, and somebody has taken the branch away or set it back to where it began. */
export function provedInstead(
  place: Place,
  {
    tip,
    base,
    proved,
  }: {
    readonly tip: string | undefined
    readonly base: string
    readonly proved: string | undefined
  },
): string | undefined {
  if (proved === undefined || !hasCommit(place, proved)) return undefined
  if (tip === undefined) return proved
  const isSetBack = tip !== proved && contains(place, base, tip) && !contains(place, tip, proved)
  return isSetBack ? proved : undefined
}
