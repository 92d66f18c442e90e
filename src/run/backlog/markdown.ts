// Markdown by lines: what is a text to read, and what only stands in an example or a comment.

export type LineKind = 'text' | 'code' | 'comment'

const FENCE = /^\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)?(`{3,}|~{3,})/

/** For each line what it is. A fence or comment that never ends is ordinary text. */
export function lineKinds(lines: readonly string[]): readonly LineKind[] {
  const kinds: LineKind[] = lines.map(() => 'text')
  for (let start = 0; start < lines.length; start += 1) {
    const block = blockAt(lines, start)
    if (block === undefined) continue
    kinds.fill(block.kind, start, block.end + 1)
    start = block.end
  }
  return kinds
}

function blockAt(lines: readonly string[], start: number): { readonly kind: LineKind; readonly end: number } | undefined {
  const line = lines[start]!
  const mark = FENCE.exec(line)?.[1]
  if (mark !== undefined) {
    return ending(
      'code',
      lines,
      start + 1,
      (later) => later.trim().startsWith(mark) && later.trim().replaceAll(mark[0]!, '') === '',
    )
  }
  // The frontmatter of the whole file.
  if (start === 0 && line.replace(/^\uFEFF/, '').trimEnd() === '---') {
    return ending('comment', lines, 1, (later) => later.trimEnd() === '---')
  }
  const open = line.lastIndexOf('<!--')
  if (open === -1) return undefined
  if (line.includes('-->', open)) return line.trim().startsWith('<!--') ? { kind: 'comment', end: start } : undefined
  return ending('comment', lines, start + 1, (later) => later.includes('-->'))
}

function ending(kind: LineKind, lines: readonly string[], from: number, isEnd: (line: string) => boolean) {
  for (let index = from; index < lines.length; index += 1) if (isEnd(lines[index]!)) return { kind, end: index }
  return undefined
}

export interface Box {
  /** The columns in front of it; a tab goes to the next multiple of four. */
  readonly indent: number
  /** Where the character between the brackets stands in the line. */
  readonly at: number
  readonly isTicked: boolean
  readonly text: string
}

const BOX = /^(\uFEFF?[ \t]*)((?:[-*+]|\d{1,9}[.)])[ \t]+\[)([ xX])\](?:[ \t]+(.*))?$/

/** The box of a line `- [ ] text`. */
export function boxOf(line: string): Box | undefined {
  const match = BOX.exec(line.trimEnd())
  if (match === null) return undefined
  const [, blank = '', marker = '', tick = '', text = ''] = match
  return { indent: indentOf(blank), at: blank.length + marker.length, isTicked: tick !== ' ', text }
}

export function indentOf(line: string): number {
  let columns = 0
  for (const character of line.replace(/^\uFEFF/, '')) {
    if (character === ' ') columns += 1
    else if (character === '\t') columns += 4 - (columns % 4)
    else break
  }
  return columns
}
