// Which files two tasks will both change, as far as can be known beforehand. Pure.
import { parse } from 'yaml'
import type { Task } from '../../backlog/task.ts'

/** The files of a task. Where they were declared, what its text names does not count. */
export interface Touches {
  /** Globs. */
  readonly declared: readonly string[]
  /** Paths that its text names. */
  readonly likely: readonly string[]
}

export interface Overlap {
  readonly how: 'declared' | 'likely' | 'none'
  readonly paths: readonly string[]
}

const NONE: Overlap = { how: 'none', paths: [] }

/** What two tasks have in common: `declared` where both say so, `likely` where at least one is only guessed from its text. */
export function overlapOf(a: Touches, b: Touches): Overlap {
  const [some, others] = [globsOf(a), globsOf(b)]
  const paths = some.filter((one) => others.some((other) => mayShareAPath(one, other)))
  if (paths.length === 0) return NONE
  return { how: a.declared.length > 0 && b.declared.length > 0 ? 'declared' : 'likely', paths }
}

function globsOf({ declared, likely }: Touches): readonly string[] {
  return declared.length > 0 ? declared : likely
}

/** What is known of the files of a task, in a tree that has these. `files` are those of an order; a task file's head may have them too. */
export function touchesOf(
  task: TextOfTask,
  tree: KnownPaths,
  files: readonly string[] = [],
): Touches {
  const declared = files.length > 0 ? files : declaredIn(task.extra)
  return { declared, likely: declared.length > 0 ? [] : likelyIn(task, tree) }
}

type TextOfTask = Pick<Task, 'title' | 'description' | 'details' | 'checklist' | 'extra'>

/** `files` of a task file's head: a glob, or a list of them. */
function declaredIn(extra: string): readonly string[] {
  if (!/^files\s*:/m.test(extra)) return []
  let head: unknown
  try {
    head = parse(extra, { logLevel: 'error' })
  } catch {
    // Somebody else's lines, which need not be YAML.
    return []
  }
  const { files } = (head ?? {}) as { readonly files?: unknown }
  const list = Array.isArray(files) ? files : [files]
  return list.filter((glob): glob is string => typeof glob === 'string' && glob.trim() !== '')
}

/** The paths of a tree, by what texts call them. */
export class KnownPaths {
  readonly #paths = new Set<string>()
  readonly #byName = new Map<string, string[]>()

  constructor(files: readonly string[]) {
    for (const file of files) {
      const name = file.slice(file.lastIndexOf('/') + 1)
      const same = this.#byName.get(name)
      if (same === undefined) this.#byName.set(name, [file])
      else same.push(file)
      for (let path = file; !this.#paths.has(path); path = path.slice(0, path.lastIndexOf('/'))) {
        this.#paths.add(path)
        if (!path.includes('/')) break
      }
    }
  }

  has(path: string): boolean {
    return this.#paths.has(path)
  }

  /** The only file with this name. */
  named(name: string): string | undefined {
    const [only, ...others] = this.#byName.get(name) ?? []
    return others.length === 0 ? only : undefined
  }
}

const IN_BACKTICKS = /`([^`\s]+)`/g
const WORD = /[\w@.~/-]+/g
/** No path that a text names is longer. */
const LONGEST = 300
const HAS_FOLDER_AND_SUFFIX = /^[^/]+\/.*\.[a-z]\w{0,7}$/i
const HAS_SUFFIX = /^[\w.@-]*[\w-]\.[a-z]\w{0,7}$/i

function likelyIn(
  { title, description, details, checklist }: TextOfTask,
  tree: KnownPaths,
): readonly string[] {
  const found = new Set<string>()
  for (const text of [title, description, details, ...checklist.map(({ item }) => item)]) {
    const quoted = [...text.matchAll(IN_BACKTICKS)]
      .map((match) => plainPath(match[1]!))
      .filter(isShort)
    // What stands in backticks and looks like a path will be there when it is not there yet.
    for (const path of quoted)
      if (HAS_FOLDER_AND_SUFFIX.test(path) && !/[:$<>|=("']/.test(path)) found.add(path)
    const words = [...text.matchAll(WORD)].map((match) => plainPath(match[0])).filter(isShort)
    for (const path of [...quoted, ...words]) {
      // The name of a folder at the top, such as src, says too little.
      const isNamed = tree.has(path) && (path.includes('/') || path.includes('.'))
      const named = isNamed ? path : HAS_SUFFIX.test(path) ? tree.named(path) : undefined
      if (named !== undefined) found.add(named)
    }
  }
  return [...found]
}

function isShort(path: string): boolean {
  return path !== '' && path.length <= LONGEST
}

/** `./src/a.ts:12` is `src/a.ts`. */
function plainPath(word: string): string {
  return word
    .slice(0, LONGEST + 1)
    .replace(/^(?:\.?\/)+/, '')
    .replace(/(?::\d+)+$/, '')
    .replace(/[/.,;:]+$/, '')
}

// Whether two globs can match the same path. Pure, and careful: where it is not certain that they cannot, they may.

interface Span {
  /** What every path it matches begins with. */
  readonly start: string
  /** What every path it matches ends with; empty when it may stand for everything in a folder. */
  readonly end: string
  /** It is a path and no pattern. */
  readonly isPath: boolean
}

const WILD = /[*?[\]{}\\]|[@+!]\(/
/** What a wildcard ends with. */
const LAST_WILD = /^.*(?:[*?\]}\\]|\))/s

/** A folder stands for everything in it. */
export function mayShareAPath(one: string, other: string): boolean {
  const [a, b] = [spanOf(one), spanOf(other)]
  if (a === undefined || b === undefined) return false
  if (a.isPath && b.isPath) return isWithin(a.start, b.start) || isWithin(b.start, a.start)
  if (a.isPath) return mayHold(b, a)
  if (b.isPath) return mayHold(a, b)
  const canBegin = a.start.startsWith(b.start) || b.start.startsWith(a.start)
  return canBegin && (a.end.endsWith(b.end) || b.end.endsWith(a.end))
}

function mayHold(glob: Span, path: Span): boolean {
  // Something in the folder that the path is, or the path itself.
  if (isWithin(glob.start, path.start)) return true
  return path.start.startsWith(glob.start) && (path.end === '' || path.end.endsWith(glob.end))
}

/** Of a pattern that only leaves out, nothing. */
function spanOf(text: string): Span | undefined {
  // Names that differ in case only are one file on some machines.
  const glob = text
    .trim()
    .replace(/^(?:\.?\/)+/, '')
    .replace(/\/+$/, '')
    .toLowerCase()
  if (/^!(?!\()/.test(glob) || glob === '') return undefined
  const isFile = glob.slice(glob.lastIndexOf('/') + 1).includes('.')
  const wild = WILD.exec(glob)
  if (wild === null) return { start: glob, end: isFile ? glob : '', isPath: true }
  return {
    start: glob.slice(0, wild.index),
    end: isFile ? glob.replace(LAST_WILD, '') : '',
    isPath: false,
  }
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}
