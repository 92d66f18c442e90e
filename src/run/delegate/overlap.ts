import type { Task } from '../../backlog/task.ts'
import { runGit } from '../../git/run-git.ts'
import { parseYaml } from '../../text/parse-yaml.ts'

/** The files of a task. `likely` ones are guessed from its text and count only if none are declared. */
export interface TouchedFiles {
  readonly declared: readonly string[]
  readonly likely: readonly string[]
}

/** `declared` if both tasks declare their files, `likely` if at least one is guessed. */
export function findOverlap(a: TouchedFiles, b: TouchedFiles) {
  const areDeclared = a.declared.length > 0 && b.declared.length > 0
  const [some, others] = [a, b].map((one) => (one.declared.length > 0 ? one.declared : one.likely))
  const paths = some!.filter((one) => others!.some((other) => mayShareAPath(one, other)))
  const how = areDeclared ? 'declared' : 'likely'
  return { how: paths.length === 0 ? 'none' : how, paths } as const
}

export function findTouchedFiles(
  task: TaskTexts,
  tree: KnownPaths,
  files: readonly string[] = [],
): TouchedFiles {
  const declared = files.length > 0 ? files : declaredFiles(task.extra)
  return { declared, likely: declared.length > 0 ? [] : likelyFiles(task, tree) }
}

type TaskTexts = Pick<Task, 'title' | 'description' | 'details' | 'checklist' | 'extra'>

function declaredFiles(extra: string) {
  if (!/^files\s*:/m.test(extra)) return []
  const parsed = parseYaml(extra)
  // Another program's front matter need not be valid YAML.
  if (!parsed.isValid) return []
  const globs = [(parsed.value as { readonly files?: unknown } | null)?.files].flat()
  return globs.filter((glob): glob is string => typeof glob === 'string' && glob.trim() !== '')
}

export class KnownPaths {
  static inTree(tree: string | undefined): KnownPaths {
    const listed = tree === undefined ? [] : runGit(tree, ['ls-files', '-z']).split('\0')
    return new KnownPaths(listed.filter((path) => path !== ''))
  }

  readonly #paths = new Set<string>()
  readonly #byName = new Map<string, string[]>()

  constructor(files: readonly string[]) {
    for (const file of files) {
      const name = file.slice(file.lastIndexOf('/') + 1)
      const same = this.#byName.get(name) ?? []
      same.push(file)
      this.#byName.set(name, same)
      for (let path = file; !this.#paths.has(path); path = path.slice(0, path.lastIndexOf('/'))) {
        this.#paths.add(path)
        if (!path.includes('/')) break
      }
    }
  }

  has(path: string): boolean {
    return this.#paths.has(path)
  }

  named(name: string): string | undefined {
    const [only, ...others] = this.#byName.get(name) ?? []
    return others.length === 0 ? only : undefined
  }
}

const IN_BACKTICKS = /`([^`\s]+)`/g
const WORD = /([\w@.~/-]+)/g
const LONGEST = 300
const HAS_FOLDER_AND_SUFFIX = /^[^/]+\/.*\.[a-z]\w{0,7}$/i
const HAS_SUFFIX = /^[\w.@-]*[\w-]\.[a-z]\w{0,7}$/i

function likelyFiles({ title, description, details, checklist }: TaskTexts, tree: KnownPaths) {
  const found = new Set<string>()
  for (const text of [title, description, details, ...checklist.map(({ item }) => item)]) {
    const quoted = pathsIn(text, IN_BACKTICKS)
    // A path in backticks may be a file that is still to be created.
    for (const path of quoted)
      if (HAS_FOLDER_AND_SUFFIX.test(path) && !/[:$<>|=("']/.test(path)) found.add(path)
    for (const path of [...quoted, ...pathsIn(text, WORD)]) {
      // A top-level folder such as src is too unspecific.
      const isNamed = tree.has(path) && /[/.]/.test(path)
      const named = isNamed ? path : HAS_SUFFIX.test(path) ? tree.named(path) : undefined
      if (named !== undefined) found.add(named)
    }
  }
  return [...found]
}

/** `./src/a.ts:12` is `src/a.ts`. */
function pathsIn(text: string, pattern: RegExp) {
  return [...text.matchAll(pattern)]
    .map((match) =>
      match[1]!
        .slice(0, LONGEST + 1)
        .replace(/^(?:\.?\/)+/, '')
        .replace(/(?::\d+)+$/, '')
        .replace(/[/.,;:]+$/, ''),
    )
    .filter((path) => path !== '' && path.length <= LONGEST)
}

interface GlobBounds {
  /** The prefix of every path it matches. */
  readonly start: string
  /** The suffix of every path it matches; empty for everything in a folder. */
  readonly end: string
  readonly isPath: boolean
}

const WILD = /[*?[\]{}\\]|[@+!]\(/
const LAST_WILD = /^.*(?:[*?\]}\\]|\))/s

/** Whether two globs can match the same path; true if unsure. A folder means everything in it. */
export function mayShareAPath(one: string, other: string): boolean {
  const [a, b] = [globBounds(one), globBounds(other)]
  if (a === undefined || b === undefined) return false
  if (a.isPath && b.isPath) return isWithin(a.start, b.start) || isWithin(b.start, a.start)
  if (a.isPath) return mayMatch(b, a)
  if (b.isPath) return mayMatch(a, b)
  const canBegin = a.start.startsWith(b.start) || b.start.startsWith(a.start)
  return canBegin && (a.end.endsWith(b.end) || b.end.endsWith(a.end))
}

function mayMatch(glob: GlobBounds, path: GlobBounds) {
  if (isWithin(glob.start, path.start)) return true
  return path.start.startsWith(glob.start) && (path.end === '' || path.end.endsWith(glob.end))
}

/** Undefined for a pattern that only excludes. */
function globBounds(text: string) {
  // On some machines, names that differ only in case are one file.
  const glob = text
    .trim()
    .replace(/^(?:\.?\/)+/, '')
    .replace(/\/+$/, '')
    .toLowerCase()
  if (/^!(?!\()/.test(glob) || glob === '') return undefined
  const isFile = glob.slice(glob.lastIndexOf('/') + 1).includes('.')
  const wild = WILD.exec(glob)
  const isPath = wild === null
  const end = isPath ? glob : glob.replace(LAST_WILD, '')
  return { start: isPath ? glob : glob.slice(0, wild.index), end: isFile ? end : '', isPath }
}

function isWithin(path: string, folder: string) {
  return path === folder || path.startsWith(`${folder}/`)
}
