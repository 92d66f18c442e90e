import { join, relative, sep } from 'node:path'
import { defined } from '../../text/defined.ts'
import {
  type FileChange,
  type Manifest,
  type PlannedFiles,
  type WrittenFile,
  readText,
  sumOf,
  applyUndo,
  undoSteps,
} from './plan.ts'

/** An edit that adds something of ours to a foreign text. Texts have no byte-order mark. */
export interface TextEdit {
  isCurrent(text: string): boolean
  /** Returns the text after each edit, starting with the original. */
  add(text: string): readonly string[]
  takeOut(text: string, known?: Pick<WrittenFile, 'kept' | 'added'>): string
  /** The containers of our values that exist in a text. */
  containers?(text: string): readonly string[]
  /** Our values that others might also write. */
  added?(text: string): readonly string[]
  isEmpty(text: string): boolean
}

export const NO_CHANGES: PlannedFiles = { changes: [], written: {} }

export function planEdit(
  path: string,
  edit: TextEdit,
  known: WrittenFile | undefined,
): PlannedFiles {
  const before = readText(path)
  if (before !== undefined && edit.isCurrent(withoutBom(before))) return NO_CHANGES
  const base = before === undefined ? '' : takeOut(before, edit, known)
  const bare = withoutBom(base)
  const mark = base.slice(0, base.length - bare.length)
  const texts = edit.add(bare).map((text) => mark + text)
  const after = texts.at(-1)!
  if (after === before) return NO_CHANGES
  const isCreated = before === undefined || (known?.undo === 'delete' && edit.isEmpty(bare))
  const written: WrittenFile = {
    sum: sumOf(after),
    undo: isCreated ? 'delete' : undoSteps(texts),
    ...defined({ kept: edit.containers?.(bare), added: edit.added?.(bare) }),
  }
  return { changes: [{ path, before, after }], written: { [path]: written } }
}

export function planEditRemoval(
  path: string,
  edit: TextEdit,
  known: WrittenFile | undefined,
): readonly FileChange[] {
  const before = readText(path)
  if (before === undefined) return []
  const rest = takeOut(before, edit, known)
  if (known?.undo === 'delete' && edit.isEmpty(withoutBom(rest)))
    return [{ path, before, after: undefined }]
  return rest === before ? [] : [{ path, before, after: rest }]
}

/** Restores the exact original bytes if the file is unchanged since. */
function takeOut(text: string, edit: TextEdit, known: WrittenFile | undefined) {
  if (known !== undefined && sumOf(text) === known.sum)
    return known.undo === 'delete' ? '' : applyUndo(text, known.undo)
  const bare = withoutBom(text)
  return text.slice(0, text.length - bare.length) + edit.takeOut(bare, known)
}

/** Some editors leave a byte-order mark at the start of a file. */
export function withoutBom(text: string): string {
  return text.replace(/^\uFEFF/, '')
}

type OwnedFiles = PlannedFiles & {
  /** Files with these names that are not ours, or were changed. */
  readonly foreign: readonly string[]
}

/** Writes files that are entirely ours, and removes those of an older version. */
export function planOwnedFiles(
  files: ReadonlyMap<string, string>,
  folder: string,
  known: Manifest['files'],
): OwnedFiles {
  const stale = [...files]
    .map(([path, after]) => ({ path, before: readText(path), after }))
    .filter(({ before, after }) => before !== after)
  const changes = stale.filter(({ path, before }) => isOurs(before, known[path]))
  const retired = planOwnedFileRemoval(new Map(), folder, known, new Set(files.keys()))
  return {
    changes: [...changes, ...retired.changes],
    written: Object.fromEntries(
      changes.map(({ path, after }) => [path, { sum: sumOf(after), undo: 'delete' }]),
    ),
    foreign: stale.filter((file) => !changes.includes(file)).map(({ path }) => path),
  }
}

/** Removes these files, and those in the folder that only the manifest lists. */
export function planOwnedFileRemoval(
  files: ReadonlyMap<string, string>,
  folder: string,
  known: Manifest['files'],
  spared: ReadonlySet<string> = new Set(),
): OwnedFiles {
  const recorded = Object.keys(known).filter((path) => path.startsWith(`${folder}/`))
  const found = [...new Set([...files.keys(), ...recorded])]
    .filter((path) => !spared.has(path))
    .map((path) => ({ path, before: readText(path), after: undefined }))
    .filter(({ before }) => before !== undefined)
  const changes = found.filter(
    ({ path, before }) => before === files.get(path) || isOurs(before, known[path]),
  )
  const foreign = found.filter((file) => !changes.includes(file)).map(({ path }) => path)
  return { changes, written: {}, foreign }
}

/** A missing file is free to use. */
function isOurs(text: string | undefined, known: WrittenFile | undefined): boolean {
  return text === undefined || (known !== undefined && sumOf(text) === known.sum)
}

interface Marks {
  readonly begin: string
  readonly end: string
  /** With an empty line before it. */
  readonly isApart: boolean
}

/** Lines between two marker lines, at the end of a text. */
export function blockEdit(marks: Marks, lines: readonly string[]): TextEdit {
  return {
    isCurrent: (text) => (blockIn(text, marks) ?? []).join('\n') === lines.join('\n'),
    add(text) {
      if (lines.length === 0) return [text]
      const lineEnd = text.includes('\r\n') ? '\r\n' : '\n'
      const ended = text === '' || text.endsWith('\n') ? text : `${text}${lineEnd}`
      const apart = text === '' || !marks.isApart ? ended : `${ended}${lineEnd}`
      return [text, `${apart}${[marks.begin, ...lines, marks.end, ''].join(lineEnd)}`]
    },
    takeOut(text) {
      const [begin, end] = limitsOf(text, marks)
      if (end === -1) return text
      const all = text.split('\n')
      const isBlankBefore = marks.isApart && begin > 0 && /^\r?$/.test(all[begin - 1]!)
      const first = isBlankBefore ? begin - 1 : begin
      return all.toSpliced(first, end - first + 1).join('\n')
    },
    isEmpty: (text) => text.trim() === '',
  }
}

function blockIn(text: string, marks: Marks): readonly string[] | undefined {
  const [begin, end] = limitsOf(text, marks)
  return end === -1 ? undefined : text.split(/\r?\n/).slice(begin + 1, end)
}

function limitsOf(text: string, { begin, end }: Marks): readonly [number, number] {
  const lines = text.split(/\r?\n/)
  const first = lines.indexOf(begin)
  return [first, first === -1 ? -1 : lines.indexOf(end, first)]
}

/** One block per agent program. */
function excludeMarks(program: string) {
  const mark = `# stint setup${program}`
  return { begin: `${mark}: begin`, end: `${mark}: end`, isApart: false }
}

export function excludePath(gitCommonDir: string): string {
  return join(gitCommonDir, 'info', 'exclude')
}

/** A pattern that matches exactly one file of a worktree. */
export function excludePattern(root: string, path: string): string {
  return `/${relative(root, path).split(sep).join('/')}`
}

export function excludedPatterns(text: string): readonly string[] {
  return blockIn(text, excludeMarks('')) ?? []
}

export function excludeEdit(patterns: readonly string[], program = ''): TextEdit {
  return blockEdit(excludeMarks(program), patterns)
}
