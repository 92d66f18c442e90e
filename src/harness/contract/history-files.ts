import { closeSync } from 'node:fs'
import { join } from 'node:path'
import type { Part } from '../../history/items.ts'
import { openRegularFile } from '../../journal/files.ts'
import { namesIn, statOrUndefined } from '../../journal/look.ts'
import { readRange } from '../../journal/read.ts'
import { type Json, objectOf, parseJson } from '../../text/json-fields.ts'

/** Deeper than any harness nests its files. */
const DEEPEST = 6

/** Sorted, and files before the folders beside them. */
export function* filesBelow(folder: string, depth = 0): Generator<string> {
  const folders: string[] = []
  for (const name of [...namesIn(folder)].sort()) {
    const path = join(folder, name)
    const stat = statOrUndefined(path)
    if (stat?.isFile() === true) yield path
    else if (stat?.isDirectory() === true && depth < DEEPEST) folders.push(path)
  }
  for (const path of folders) yield* filesBelow(path, depth + 1)
}

export function* filesNamed(path: string): Generator<string> {
  const stat = statOrUndefined(path)
  if (stat?.isFile() === true) yield path
  else if (stat?.isDirectory() === true) yield* filesBelow(path)
}

export function beginningOf(path: string, bytes: number): Buffer | undefined {
  const fd = openRegularFile(path)
  if (fd === undefined) return undefined
  try {
    return readRange(fd, 0, bytes)
  } finally {
    closeSync(fd)
  }
}

/** Enough for most files, of which there may be very many. */
const FIRST_LOOK = 16 * 1024

export function* firstObjects(path: string, bytes: number): Generator<Json> {
  let given = 0
  for (const length of [Math.min(FIRST_LOOK, bytes), bytes]) {
    const beginning = beginningOf(path, length)
    const lines = (beginning?.toString('utf8') ?? '').split('\n')
    // The last line may be cut off.
    const whole = beginning === undefined || beginning.length < length ? lines : lines.slice(0, -1)
    for (const line of whole.slice(given)) {
      given += 1
      const fields = objectOf(parseJson(line))
      if (fields !== undefined) yield fields
    }
    if (beginning === undefined || beginning.length < length) return
  }
}

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+);base64,/

export function pictureAt(url: string): Part {
  const [start, mediaType] = DATA_URL.exec(url) ?? []
  if (start === undefined || mediaType === undefined) return { type: 'image link', url }
  return { type: 'image', mediaType, data: url.slice(start.length) }
}
