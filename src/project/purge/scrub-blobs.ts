import { readOrUndefined } from '../../journal/look.ts'
import { removeFile, replaceFile } from '../../journal/files.ts'
import { listBlobs } from '../../history/blob-files.ts'
import { Blobs, blobNameOf } from '../../history/blobs.ts'
import { onceUnlocked } from '../../history/lock.ts'
import { blobsFolder } from '../../history/places.ts'
import { storeOf } from '../history/store.ts'
import type { Workspace } from '../store/workspace.ts'
import type { Needle } from './needle.ts'

/**
 * Takes a text out of what is kept by its content: what is left has another name, which goes into the lines that named it. The
 * old one goes last, so that a purge that was killed is finished by the next. Answers how often it was there, by file.
 */
export function scrubBlobs(
  workspace: Workspace,
  needle: Needle,
  { dryRun }: { dryRun: boolean },
): ReadonlyMap<string, number> {
  const blobs = new Blobs(blobsFolder(workspace.place.sessions))
  const found = new Map<string, number>()
  const renamed = new Map<string, string>()
  for (const { hash, path } of listBlobs(workspace.place.sessions)) {
    const bytes = readOrUndefined(path)
    const count = bytes === undefined ? 0 : needle.count(bytes)
    if (bytes === undefined || count === 0) continue
    found.set(path, count)
    if (dryRun) continue
    const text = needle.scrubBytes(bytes).value.toString('utf8')
    const name = blobNameOf(text)
    blobs.put(name.hash, text, true)
    renamed.set(hash, `"$blob":"${name.hash}","length":${name.length}`)
  }
  if (renamed.size > 0) {
    for (const { path } of storeOf(workspace).list()) renameIn(path, renamed)
    for (const hash of renamed.keys()) removeFile(blobs.pathOf(hash))
  }
  return found
}

const NAMED = /"\$blob":"([0-9a-f]{64})","length":\d+/g

function renameIn(path: string, renamed: ReadonlyMap<string, string>): void {
  onceUnlocked(path, () => {
    const before = readOrUndefined(path)?.toString('latin1') ?? ''
    const after = before.replace(NAMED, (name, hash: string) => renamed.get(hash) ?? name)
    if (after !== before) replaceFile(path, Buffer.from(after, 'latin1'))
    return {}
  })
}
