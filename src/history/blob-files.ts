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

export function* namesOf(path: string, passedOver?: () => void): Generator<string> {
  for (const { line } of readLines(path, 0, passedOver))
    for (const { hash } of blobsIn(line)) yield hash
}

/** All but tool outputs and pictures. */
export function* saidNamesOf(path: string): Generator<string> {
  for (const { line } of readLines(path))
    for (const { hash } of blobsIn(withoutOutputs(line))) yield hash
}

// Only where a line has its blocks: a lookalike in a tool's input stays.
function withoutOutputs({ toolUseResult: _output, ...line }: Json) {
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

function withoutOutputBlocks(content: unknown) {
  return Array.isArray(content) ? content.filter((block) => !isOutput(objectOf(block))) : content
}

function isOutput(block: Json | undefined) {
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
  /** The byte behind it. */
  readonly offset: number
}

/** Each line once, in file order. Unreadable lines are skipped and reported: a torn line was written again behind it. */
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

/** The last line may be whole without a newline. */
function* wholeLinesOf(path: string, start: number) {
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
