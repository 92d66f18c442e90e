// The blobs of a project as files, for whoever looks after all of them.
import { join } from 'node:path'
import { namesIn, statOrUndefined } from '../journal/look.ts'
import { type Json, objectOf } from '../text/json-fields.ts'
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
    .flatMap((shelf) =>
      namesIn(join(folder, shelf)).map((hash) => ({ hash, path: join(folder, shelf, hash) })),
    )
    .filter(({ hash }) => /^[0-9a-f]{64}$/.test(hash))
    .flatMap((blob) => {
      const stat = statOrUndefined(blob.path)
      return stat === undefined ? [] : [{ ...blob, bytes: stat.size }]
    })
}

/** The hashes of the blobs that the lines of a stored conversation name. `passedOver` is told of each line that cannot be read. */
export function* namesOf(path: string, passedOver?: () => void): Generator<string> {
  for (const { line } of readLines(path, 0, passedOver))
    for (const { hash } of blobsIn(line)) yield hash
}

/** The hashes of those of them that hold what was said: all but what tools gave out, and pictures. */
export function* saidNamesOf(path: string): Generator<string> {
  for (const { line } of readLines(path))
    for (const { hash } of blobsIn(withoutOutputs(line))) yield hash
}

// Only where a line has its blocks. What looks like an output in what a tool was given is said.
function withoutOutputs({ toolUseResult: _output, ...line }: Json): Json {
  const [message, attachment] = [objectOf(line['message']), objectOf(line['attachment'])]
  return {
    ...line,
    message:
      message === undefined
        ? undefined
        : { ...message, content: withoutOutputBlocks(message['content']) },
    attachment:
      attachment === undefined
        ? undefined
        : { ...attachment, prompt: withoutOutputBlocks(attachment['prompt']) },
  }
}

function withoutOutputBlocks(content: unknown): unknown {
  return Array.isArray(content) ? content.filter((block) => !isOutput(objectOf(block))) : content
}

function isOutput(block: Json | undefined): boolean {
  const type = block?.['type']
  return (
    typeof type === 'string' &&
    (type.endsWith('tool_result') || objectOf(block!['source'])?.['type'] === 'base64')
  )
}
