// A file that is somebody else's and holds something of ours.
import { type FileChange, readText } from './changes.ts'
import { type WrittenFile, sumOf } from './manifest.ts'
import { undo, undoSteps } from './undo.ts'

/** How something of ours is put into a text and taken out of it. */
export interface TextEdit {
  /** Whether it is there as it should be. */
  isCurrent(text: string): boolean
  /** The texts from one without it to the one with it, one edit apart. */
  add(text: string): readonly string[]
  /** The text without it, by what is known of how it got there. */
  takeOut(text: string, known?: Pick<WrittenFile, 'kept' | 'added'>): string
  /** The containers in a text without it. */
  containers?(text: string): readonly string[]
  /** What it adds to a text that cannot be told from what others write. */
  added?(text: string): readonly string[]
  /** Whether a text says nothing at all, so that a file of ours may go. */
  isEmpty(text: string): boolean
}

export interface PlannedFile {
  readonly change?: FileChange
  readonly written?: WrittenFile
}

/** What comes of putting ours into a file. Nothing when it is there already. */
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

/** What comes of taking ours out of a file: the very bytes that were there when nobody wrote to it since. */
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

/** The text before us; undefined when somebody wrote to the file since. */
function asItWas(text: string, known: WrittenFile | undefined): string | undefined {
  if (known === undefined || sumOf(text) !== known.sum) return undefined
  return known.undo === 'delete' ? '' : undo(text, known.undo)
}
