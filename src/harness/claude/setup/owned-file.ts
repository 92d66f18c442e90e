// Files that are ours as a whole: slash commands, a plugin.
import { type FileChange, readText } from './changes.ts'
import { type WrittenFile, sumOf } from './manifest.ts'

export interface OwnedFiles {
  readonly changes: readonly FileChange[]
  readonly written: Readonly<Record<string, WrittenFile>>
  /** Files of these names that somebody else wrote, or changed. */
  readonly foreign: readonly string[]
}

type Known = Readonly<Record<string, WrittenFile>>

/** What comes of writing these files, and of taking away those that an older version wrote and this one does not. */
export function planOwned(
  files: ReadonlyMap<string, string>,
  folder: string,
  known: Known,
): OwnedFiles {
  const retired = planOwnedRemoval(retiredPaths(files, folder, known), known)
  const stands = [...files].map(([path, after]) => ({ path, after, before: readText(path) }))
  const foreign = stands.filter(
    ({ path, before, after }) => before !== after && !isOurs(before, known[path]),
  )
  const changes = stands.filter((file) => file.before !== file.after && !foreign.includes(file))
  const written = changes.map(
    ({ path, after }) => [path, { sum: sumOf(after), undo: 'delete' }] as const,
  )
  return {
    changes: [...changes, ...retired.changes],
    written: Object.fromEntries(written),
    foreign: foreign.map(({ path }) => path),
  }
}

/** What comes of taking files away that hold what is given, or what the manifest knows. */
export function planOwnedRemoval(
  files: ReadonlyMap<string, string | undefined>,
  known: Known,
): OwnedFiles {
  const stands = [...files]
    .map(([path, text]) => ({ path, text, before: readText(path) }))
    .filter(({ before }) => before !== undefined)
  const ours = stands.filter(
    ({ path, text, before }) => before === text || isOurs(before, known[path]),
  )
  return {
    changes: ours.map(({ path, before }) => ({ path, before, after: undefined })),
    written: {},
    foreign: stands.filter((file) => !ours.includes(file)).map(({ path }) => path),
  }
}

/** What the manifest knows in a folder and these files do not name. */
export function retiredPaths(
  files: ReadonlyMap<string, string>,
  folder: string,
  known: Known,
): ReadonlyMap<string, undefined> {
  const paths = Object.keys(known).filter(
    (path) => path.startsWith(`${folder}/`) && !files.has(path),
  )
  return new Map(paths.map((path) => [path, undefined]))
}

/** A name that is free is ours to take. */
function isOurs(text: string | undefined, known: WrittenFile | undefined): boolean {
  return text === undefined || (known !== undefined && sumOf(text) === known.sum)
}
