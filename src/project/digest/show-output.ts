import { closeSync } from 'node:fs'
import { visibleLine } from '../../command/digest/visible-line.ts'
import { openToRead } from '../../journal/files.ts'
import { readRange } from '../../journal/read.ts'

export interface ShowOptions {
  /** From 1. */
  readonly lines?: readonly [from: number, to: number]
  readonly grep?: string
}

export interface ShownLine {
  readonly number: number
  readonly text: string
}

const PIECE = 1024 * 1024

export function* shownLines(
  path: string,
  { lines: [from, to] = [1, Infinity], grep }: ShowOptions,
): Generator<ShownLine> {
  const wanted = grep?.toLowerCase()
  let number = 0
  for (const raw of linesOf(path)) {
    number += 1
    if (number > to) return
    if (number < from) continue
    const text = visibleLine(raw)
    if (wanted === undefined || text.toLowerCase().includes(wanted)) yield { number, text }
  }
}

function* linesOf(path: string): Generator<string> {
  const fd = openToRead(path)
  const decoder = new TextDecoder()
  try {
    let open = ''
    for (let at = 0; ; at += PIECE) {
      const bytes = readRange(fd, at, at + PIECE)
      const text = open + decoder.decode(bytes, { stream: bytes.length === PIECE })
      const lines = text.split('\n')
      open = lines.pop()!
      yield* lines
      if (bytes.length < PIECE) break
    }
    if (open !== '') yield open
  } finally {
    closeSync(fd)
  }
}
