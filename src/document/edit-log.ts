import type { EntryData, EntryKind } from '../session/entries.ts'

/** Collects the entries that an edit amounts to. */
export interface EditLog {
  add<K extends EntryKind>(kind: K, data: EntryData[K], id?: string): void
  /** An entry that takes something back. Ignored when it is not certain what the document was rendered from. */
  takeBack<K extends EntryKind>(kind: K, data: EntryData[K], id?: string): void
  say(sentence: string): void
  mint(): string
}
