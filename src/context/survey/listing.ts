import type { Repository } from '../../git/repository.ts'
import { runGit } from '../../git/run-git.ts'
import type { Look } from './finding.ts'

/** What git tracks in a worktree, in git's own order, and as git printed it. */
export type Listing = Look['listing'] & { readonly raw: string }

/** Asks git once, however many files there are. */
export function readListing({ worktree }: Repository): Listing {
  return listingOf(runGit(worktree, ['ls-files', '-z']))
}

/** Taken apart at its first use: whoever only wants to know whether it is the same one need not pay for that. */
function listingOf(raw: string): Listing {
  let paths: readonly string[] | undefined
  let known: ReadonlySet<string> | undefined
  const names = new Map<string, readonly string[]>()
  const listing = {
    raw,
    get paths() {
      // A file with a conflict stands there once for each side, one after the other.
      paths ??= raw.split('\0').filter((path, index, all) => path !== '' && path !== all[index - 1])
      return paths
    },
    has(path: string) {
      known ??= new Set(listing.paths)
      return known.has(path)
    },
    in(folder: string) {
      const found = names.get(folder) ?? namesIn(listing.paths, folder)
      names.set(folder, found)
      return found
    },
  }
  return listing
}

function namesIn(paths: readonly string[], folder: string): readonly string[] {
  const start = folder === '' ? '' : `${folder}/`
  const inside = paths.filter((path) => path.startsWith(start) && !path.includes('/', start.length))
  return inside.map((path) => path.slice(start.length))
}
