// Markdown by lines: what is a text to read, and what only stands in an example or a comment.

export type LineKind = 'text' | 'code' | 'comment'

const FENCE = /^\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)?(`{3,}|~{3,})/

/** For each line what it is. A fence or comment that never ends is ordinary text. */
export function lineKinds(lines: readonly string[]): readonly LineKind[] {
  const kinds: LineKind[] = lines.map(() => 'text')
  // What did not end after one line does not end after a later one, and is not looked for again.
  const endless = new Set<string>()
  for (let start = 0; start < lines.length; start += 1) {
    const block = blockAt(lines[start]!, start === 0)
    if (block === undefined || endless.has(block.mark)) continue
    const end = block.isOver
      ? start
      : lines.findIndex((line, index) => index > start && block.isEnd(line))
    if (end === -1) {
      endless.add(block.mark)
      continue
    }
    kinds.fill(block.kind, start, end + 1)
    start = end
  }
  return kinds
}

interface Block {
  readonly kind: LineKind
  readonly mark: string
  /** It ends on the line it began on. */
  readonly isOver: boolean
  readonly isEnd: (line: string) => boolean
}

function blockAt(line: string, isFirst: boolean): Block | undefined {
  const mark = FENCE.exec(line)?.[1]
  if (mark !== undefined) {
    const isEnd = (later: string) =>
      later.trim().startsWith(mark) && later.trim().replaceAll(mark[0]!, '') === ''
    return { kind: 'code', mark, isOver: false, isEnd }
  }
  // The frontmatter of the whole file.
  if (isFirst && line.replace(/^\uFEFF/, '').trimEnd() === '---') {
    return {
      kind: 'comment',
      mark: '---',
      isOver: false,
      isEnd: (later) => later.trimEnd() === '---',
    }
  }
  const open = line.lastIndexOf('<!--')
  if (open === -1) return undefined
  const isOver = line.includes('-->', open)
  // A remark at the end of a line leaves the line what it is.
  if (isOver && !line.trim().startsWith('<!--')) return undefined
  return { kind: 'comment', mark: '<!--', isOver, isEnd: (later) => later.includes('-->') }
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
