import { join, relative, sep } from 'node:path'
import { type FileChange, type WrittenFile, readText, sumOf, undo, undoSteps } from './plan.ts'

export interface TextEdit {
  isCurrent(text: string): boolean
  /** The texts from without to with it, one edit apart. */
  add(text: string): readonly string[]
  takeOut(text: string, known?: Pick<WrittenFile, 'kept' | 'added'>): string
  containers?(text: string): readonly string[]
  /** Values that cannot be told from what others write. */
  added?(text: string): readonly string[]
  isEmpty(text: string): boolean
}

export interface PlannedFile {
  readonly change?: FileChange
  readonly written?: WrittenFile
}

export function planEdit(
  path: string,
  edit: TextEdit,
  known: WrittenFile | undefined,
): PlannedFile {
  const before = readText(path)
  if (before !== undefined && edit.isCurrent(before)) return {}
  const base = before === undefined ? '' : (asItWas(before, known) ?? edit.takeOut(before, known))
  const texts = edit.add(base)
  const after = texts.at(-1)!
  if (after === before) return {}
  const isCreated = before === undefined || (known?.undo === 'delete' && edit.isEmpty(base))
  const written: WrittenFile = {
    sum: sumOf(after),
    undo: isCreated ? 'delete' : undoSteps(texts),
    ...(edit.containers === undefined ? {} : { kept: edit.containers(base) }),
    ...(edit.added === undefined ? {} : { added: edit.added(base) }),
  }
  return { change: { path, before, after }, written }
}

/** The exact original bytes if the file is unchanged since. */
export function planTakingOut(
  path: string,
  edit: TextEdit,
  known: WrittenFile | undefined,
): FileChange | undefined {
  const before = readText(path)
  if (before === undefined) return undefined
  const isOursAlone = (rest: string) => known?.undo === 'delete' && edit.isEmpty(rest)
  const rest = asItWas(before, known) ?? edit.takeOut(before, known)
  if (isOursAlone(rest)) return { path, before, after: undefined }
  return rest === before ? undefined : { path, before, after: rest }
}

function asItWas(text: string, known: WrittenFile | undefined): string | undefined {
  if (known === undefined || sumOf(text) !== known.sum) return undefined
  return known.undo === 'delete' ? '' : undo(text, known.undo)
}

export interface OwnedFiles {
  readonly changes: readonly FileChange[]
  readonly written: Readonly<Record<string, WrittenFile>>
  /** Files of these names that are not ours, or were changed. */
  readonly foreign: readonly string[]
}

type Known = Readonly<Record<string, WrittenFile>>

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

/** A free name is ours to take. */
function isOurs(text: string | undefined, known: WrittenFile | undefined): boolean {
  return text === undefined || (known !== undefined && sumOf(text) === known.sum)
}

export interface Marks {
  readonly begin: string
  readonly end: string
  /** With an empty line before it. */
  readonly isApart: boolean
}

export function addBlock(text: string, marks: Marks, lines: readonly string[]): readonly string[] {
  const lineEnd = text.includes('\r\n') ? '\r\n' : '\n'
  const ended = text === '' || text.endsWith('\n') ? text : `${text}${lineEnd}`
  const apart = text === '' || !marks.isApart ? ended : `${ended}${lineEnd}`
  return [text, `${apart}${[marks.begin, ...lines, marks.end, ''].join(lineEnd)}`]
}

export function blockIn(text: string, marks: Marks): readonly string[] | undefined {
  const lines = text.split('\n').map(withoutReturn)
  const [begin, end] = limits(lines, marks)
  return end === -1 ? undefined : lines.slice(begin + 1, end)
}

export function takeOutBlock(text: string, marks: Marks): string {
  const lines = text.split('\n')
  const [begin, end] = limits(lines.map(withoutReturn), marks)
  if (end === -1) return text
  const isBlankBefore = marks.isApart && begin > 0 && withoutReturn(lines[begin - 1]!) === ''
  const first = isBlankBefore ? begin - 1 : begin
  return lines.toSpliced(first, end - first + 1).join('\n')
}

function limits(lines: readonly string[], { begin, end }: Marks): readonly [number, number] {
  const first = lines.indexOf(begin)
  return [first, first === -1 ? -1 : lines.indexOf(end, first)]
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}

/** One block per agent program. */
function marksOf(program: string) {
  return {
    begin: `# stint setup${program}: begin`,
    end: `# stint setup${program}: end`,
    isApart: false,
  }
}

export function excludePath(gitCommonDir: string): string {
  return join(gitCommonDir, 'info', 'exclude')
}

export function excludePattern(root: string, path: string): string {
  return `/${relative(root, path).split(sep).join('/')}`
}

export function excludedIn(text: string, program = ''): readonly string[] {
  return blockIn(text, marksOf(program)) ?? []
}

export function excludeEdit(patterns: readonly string[], program = ''): TextEdit {
  const marks = marksOf(program)
  return {
    isCurrent: (text) => excludedIn(text, program).join('\n') === patterns.join('\n'),
    add: (text) => (patterns.length === 0 ? [text] : addBlock(text, marks, patterns)),
    takeOut: (text) => takeOutBlock(text, marks),
    isEmpty: (text) => text.trim() === '',
  }
}
