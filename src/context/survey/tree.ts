import { isOwn, languageOf } from './languages.ts'

/** A folder with what lies in it and below. */
export interface Folder {
  readonly name: string
  /** From the root, without a slash at the end. */
  readonly path: string
  readonly folders: ReadonlyMap<string, Folder>
  /** Files right in it. */
  readonly own: number
  /** Files in it and below. */
  readonly files: number
  /** Files in it and below by the language they are written in. */
  readonly languages: ReadonlyMap<string, number>
}

interface Growing extends Folder {
  readonly folders: Map<string, Growing>
  own: number
  files: number
  readonly languages: Map<string, number>
}

/** Deep enough for `src/main/java/org/example/thing`; what lies deeper counts where the depth ends. */
const DEEPEST = 8

/** The folders of a listing, in one pass over it. */
export function treeOf(paths: readonly string[]): Folder {
  const root = grow('', '')
  let last = { path: '', folder: root, isOwn: true }
  for (const path of paths) {
    const folderPath = path.slice(0, Math.max(0, path.lastIndexOf('/')))
    // Most files lie in the folder of the file before them.
    if (folderPath !== last.path)
      last = { path: folderPath, folder: folderAt(root, folderPath), isOwn: isOwn(folderPath) }
    last.folder.own += 1
    const language = last.isOwn ? languageOf(path) : undefined
    if (language !== undefined) add(last.folder.languages, language, 1)
  }
  sumUp(root)
  return root
}

/** The first folder on the way down that has something of its own, or more than one folder. */
export function whereItBranches(folder: Folder): Folder {
  const [only] = folder.folders.values()
  return folder.own === 0 && folder.folders.size === 1 && only !== undefined
    ? whereItBranches(only)
    : folder
}

function folderAt(root: Growing, path: string): Growing {
  return path === '' ? root : path.split('/', DEEPEST).reduce(childOf, root)
}

function childOf(folder: Growing, name: string): Growing {
  const known = folder.folders.get(name)
  if (known !== undefined) return known
  const child = grow(name, folder.path === '' ? name : `${folder.path}/${name}`)
  folder.folders.set(name, child)
  return child
}

function grow(name: string, path: string): Growing {
  return { name, path, folders: new Map(), own: 0, files: 0, languages: new Map() }
}

/** What lies below counts for each folder above it. */
function sumUp(folder: Growing): void {
  folder.files = folder.own
  for (const child of folder.folders.values()) {
    sumUp(child)
    folder.files += child.files
    for (const [language, count] of child.languages) add(folder.languages, language, count)
  }
}

function add(counts: Map<string, number>, key: string, count: number): void {
  counts.set(key, (counts.get(key) ?? 0) + count)
}
