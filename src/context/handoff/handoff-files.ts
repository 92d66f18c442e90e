import { join } from 'node:path'
import { createFile, createFolder, removeFile } from '../../journal/write-files.ts'
import { shortId } from '../../journal/ids.ts'
import { listFolder, readOrUndefined } from '../../journal/read-files.ts'
import { defined } from '../../text/defined.ts'
import { readHandoffFrontmatter } from './frontmatter.ts'
import type { RecordedHandoff } from './recorded-handoffs.ts'

export function handoffFolder(journalFolder: string): string {
  return join(journalFolder, 'handoffs')
}

function readText(path: string) {
  return readOrUndefined(path)?.toString('utf8')
}

/** Creates the file to claim its number against concurrent handoffs. */
export function claimNumber<T extends { readonly text: string }>(
  folder: string,
  recorded: readonly { readonly number: number }[],
  make: (number: number) => T,
): { readonly made: T; readonly path: string; readonly number: number } {
  createFolder(folder)
  const used = [...recorded.map(({ number }) => number), ...numbersIn(folder)]
  for (let number = 1 + Math.max(0, ...used); ; number += 1) {
    const made = make(number)
    const path = join(folder, `${number}.md`)
    try {
      if (createFile(path, made.text)) return { made, path, number }
    } catch (error) {
      // The file may exist if only the sync of its folder failed.
      if (readText(path) === made.text) removeFile(path)
      throw error
    }
  }
}

function numbersIn(folder: string) {
  return listFolder(folder)
    .flatMap((name) => /^(\d{1,6})(?:-\w+)?\.md$/.exec(name)?.[1] ?? [])
    .map(Number)
}

/** When two machines used the same number, one of the files has a longer name. */
export function readHandoffFile(
  folder: string,
  handoff: Pick<RecordedHandoff, 'id' | 'number' | 'hash'>,
  all: readonly Pick<RecordedHandoff, 'hash'>[],
): { readonly path: string; readonly text?: string } {
  const plain = join(folder, `${handoff.number}.md`)
  const beside = join(folder, `${handoff.number}-${shortId(handoff.id)}.md`)
  const text = readText(plain)
  const claimed = text === undefined ? undefined : readHandoffFrontmatter(text)?.hash
  const isAnothers =
    claimed !== undefined && claimed !== handoff.hash && all.some(({ hash }) => hash === claimed)
  return isAnothers
    ? { path: beside, ...defined({ text: readText(beside) }) }
    : { path: plain, ...defined({ text }) }
}

/** Never overwrites an existing file, edited or not. */
export function restoreFiles(folder: string, all: readonly RecordedHandoff[]): void {
  for (const handoff of all) {
    const { path, text } = readHandoffFile(folder, handoff, all)
    if (text !== undefined || handoff.document === '') continue
    createFolder(folder)
    createFile(path, handoff.document)
  }
}
