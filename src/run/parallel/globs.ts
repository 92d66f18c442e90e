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
