import { join, relative, sep } from 'node:path'
import { sha256 } from '../../history/blobs.ts'
import { defined } from '../../text/defined.ts'
import {
  type FileChange,
  type Manifest,
  type PlannedFiles,
  type WrittenFile,
  readText,
  applyUndo,
  undoSteps,
} from './plan.ts'

/** An edit that adds something of ours to a foreign text. Texts have no byte-order mark. */
export interface TextEdit {
  isCurrent(text: string): boolean
  /** Returns the text after each edit, starting with the original. */
  add(text: string): readonly string[]
  remove(text: string, known?: Pick<WrittenFile, 'kept' | 'added'>): string
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
  const base = before === undefined ? '' : removeEdit(before, edit, known)
  const content = withoutBom(base)
  const bom = base.slice(0, base.length - content.length)
  const texts = edit.add(content).map((text) => bom + text)
  const after = texts.at(-1)!
  if (after === before) return NO_CHANGES
  const isCreated = before === undefined || (known?.undo === 'delete' && edit.isEmpty(content))
  const written: WrittenFile = {
    sum: sha256(after),
    undo: isCreated ? 'delete' : undoSteps(texts),
    ...defined({ kept: edit.containers?.(content), added: edit.added?.(content) }),
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
  const rest = removeEdit(before, edit, known)
  if (known?.undo === 'delete' && edit.isEmpty(withoutBom(rest)))
    return [{ path, before, after: undefined }]
  return rest === before ? [] : [{ path, before, after: rest }]
}

/** Restores the exact original bytes if the file is unchanged since. */
function removeEdit(text: string, edit: TextEdit, known: WrittenFile | undefined) {
  if (known !== undefined && sha256(text) === known.sum)
    return known.undo === 'delete' ? '' : applyUndo(text, known.undo)
  const content = withoutBom(text)
  return text.slice(0, text.length - content.length) + edit.remove(content, known)
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
  const changes = stale.filter(({ path, before }) => isOwn(before, known[path]))
  const retired = planOwnedFileRemoval(new Map(), folder, known, new Set(files.keys()))
  return {
    changes: [...changes, ...retired.changes],
    written: Object.fromEntries(
      changes.map(({ path, after }) => [path, { sum: sha256(after), undo: 'delete' }]),
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
    ({ path, before }) => before === files.get(path) || isOwn(before, known[path]),
  )
  const foreign = found.filter((file) => !changes.includes(file)).map(({ path }) => path)
  return { changes, written: {}, foreign }
}

/** A missing file is free to use. */
function isOwn(text: string | undefined, known: WrittenFile | undefined): boolean {
  return text === undefined || (known !== undefined && sha256(text) === known.sum)
}

interface BlockMarkers {
  readonly begin: string
  readonly end: string
  /** With an empty line before it. */
  readonly hasBlankLineBefore: boolean
}

/** Lines between two marker lines, at the end of a text. */
export function blockEdit(markers: BlockMarkers, lines: readonly string[]): TextEdit {
  return {
    isCurrent: (text) => (readBlock(text, markers) ?? []).join('\n') === lines.join('\n'),
    add(text) {
      if (lines.length === 0) return [text]
      const lineEnd = text.includes('\r\n') ? '\r\n' : '\n'
      const ended = text === '' || text.endsWith('\n') ? text : `${text}${lineEnd}`
      const separated = text === '' || !markers.hasBlankLineBefore ? ended : `${ended}${lineEnd}`
      return [text, `${separated}${[markers.begin, ...lines, markers.end, ''].join(lineEnd)}`]
    },
    remove(text) {
      const [begin, end] = blockRange(text, markers)
      if (end === -1) return text
      const all = text.split('\n')
      const isBlankBefore = markers.hasBlankLineBefore && begin > 0 && /^\r?$/.test(all[begin - 1]!)
      const first = isBlankBefore ? begin - 1 : begin
      return all.toSpliced(first, end - first + 1).join('\n')
    },
    isEmpty: (text) => text.trim() === '',
  }
}

function readBlock(text: string, markers: BlockMarkers): readonly string[] | undefined {
  const [begin, end] = blockRange(text, markers)
  return end === -1 ? undefined : text.split(/\r?\n/).slice(begin + 1, end)
}

function blockRange(text: string, { begin, end }: BlockMarkers): readonly [number, number] {
  const lines = text.split(/\r?\n/)
  const first = lines.indexOf(begin)
  return [first, first === -1 ? -1 : lines.indexOf(end, first)]
}

/** One block per agent program. */
function excludeMarkers(program: string) {
  const bom = `# stint setup${program}`
  return { begin: `${bom}: begin`, end: `${bom}: end`, hasBlankLineBefore: false }
}

export function excludePath(gitCommonDir: string): string {
  return join(gitCommonDir, 'info', 'exclude')
}

/** A pattern that matches exactly one file of a worktree. */
export function excludePattern(root: string, path: string): string {
  return `/${relative(root, path).split(sep).join('/')}`
}

export function excludedPatterns(text: string): readonly string[] {
  return readBlock(text, excludeMarkers('')) ?? []
}

export function excludeEdit(patterns: readonly string[], program = ''): TextEdit {
  return blockEdit(excludeMarkers(program), patterns)
}
