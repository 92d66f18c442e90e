// The blobs of a project as files, for whoever looks after all of them.
import { join } from 'node:path'
import { namesIn, statOrUndefined } from '../journal/look.ts'
import { type Json, nameOf, objectOf, parseJson } from '../text/json-fields.ts'
import { blobsIn } from './large-strings.ts'
import { blobsFolder } from './places.ts'
import { closeSync, fstatSync } from 'node:fs'
import { openRegularFile } from '../journal/files.ts'
import { readRange } from '../journal/read.ts'

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

const CHUNK = 1024 * 1024
const NEWLINE = 0x0a

export interface LineAt {
  readonly line: Json
  /** Behind it. */
  readonly offset: number
}

/**
 * The lines of a stored conversation, each once and in the order of the file, a piece of it at a time. What cannot be read is
 * passed over, and told of: a line that was cut off was written again behind it. No file at all has no lines.
 */
export function* readLines(
  path: string,
  from = 0,
  passedOver: () => void = () => undefined,
): Generator<LineAt> {
  const seen = new Set<string>()
  for (const { bytes, offset } of wholeLinesOf(path, from)) {
    const text = bytes.toString('utf8')
    const line = objectOf(parseJson(text))
    if (line === undefined) {
      if (text.trim() !== '') passedOver()
      continue
    }
    const identity = nameOf(line['uuid']) ?? bytes.toString('latin1')
    if (seen.has(identity)) continue
    seen.add(identity)
    yield { line, offset }
  }
}

/** The last one, too, when nothing ends it: it may be whole. Going on from it later costs a line that cannot be read. */
function* wholeLinesOf(
  path: string,
  start: number,
): Generator<{ readonly bytes: Buffer; readonly offset: number }> {
  const fd = openRegularFile(path)
  if (fd === undefined) return
  try {
    const { size } = fstatSync(fd)
    let rest: Buffer = Buffer.alloc(0)
    for (let from = start; from < size; from += CHUNK) {
      const read = readRange(fd, from, Math.min(size, from + CHUNK))
      const bytes = rest.length === 0 ? read : Buffer.concat([rest, read])
      let begin = 0
      for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, begin)) {
        yield {
          bytes: bytes.subarray(begin, end),
          offset: from + read.length - bytes.length + end + 1,
        }
        begin = end + 1
      }
      rest = bytes.subarray(begin)
    }
    if (rest.length > 0) yield { bytes: rest, offset: size }
  } finally {
    closeSync(fd)
  }
}
