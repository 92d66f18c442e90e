// The blobs of a project as files, for whoever looks after all of them.
import { join } from 'node:path'
import { namesIn, statOrUndefined } from '../journal/look.ts'
import { blobsIn } from './large-strings.ts'
import { blobsFolder } from './places.ts'
import { readLines } from './read-lines.ts'

interface BlobFile {
  readonly hash: string
  readonly path: string
  readonly bytes: number
}

export function listBlobs(sessions: string): readonly BlobFile[] {
  const folder = blobsFolder(sessions)
  return namesIn(folder)
    .filter((name) => /^[0-9a-f]{2}$/.test(name))
    .flatMap((shelf) => namesIn(join(folder, shelf)).map((hash) => ({ hash, path: join(folder, shelf, hash) })))
    .filter(({ hash }) => /^[0-9a-f]{64}$/.test(hash))
    .flatMap((blob) => {
      const stat = statOrUndefined(blob.path)
      return stat === undefined ? [] : [{ ...blob, bytes: stat.size }]
    })
}

/** The hashes of the blobs that the lines of a stored conversation name. */
export function* namesOf(path: string): Generator<string> {
  for (const { line } of readLines(path)) for (const { hash } of blobsIn(line)) yield hash
}
