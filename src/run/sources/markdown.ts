// Markdown by lines: what is a text to read, and what only stands in an example or a comment.
import type { ChecklistItem } from '../../session/entries.ts'
import { type Priority, type Size, readPriority, readSize } from '../../backlog/task.ts'
import { defined } from '../../text/defined.ts'

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

// What trackers have in common: labels that say a size or a priority, and lists of boxes in a text.

export interface ReadLabels {
  /** Those that say nothing else. */
  readonly labels: readonly string[]
  readonly priority?: Priority
  readonly size?: Size
}

const SAYS = /^(size|priority|prio)\s*[:/=]\s*(\S+)$/i

/** `size:S` and `size/S` are a size; `priority:P1`, `priority: high` and `P1` are a priority. */
export function readLabels(labels: readonly string[]): ReadLabels {
  const found = labels.map((label) => {
    const [, about = '', word = ''] = SAYS.exec(label.trim()) ?? []
    if (about.toLowerCase() === 'size') return { label, size: readSize(word) }
    if (about !== '')
      return { label, priority: readPriority(word) ?? numberedPriority(Number(word)) }
    return { label, priority: /^P[0-3]$/i.test(label.trim()) ? readPriority(label) : undefined }
  })
  const size = found.find((one) => one.size !== undefined)?.size
  const priority = found.find((one) => one.priority !== undefined)?.priority
  return {
    labels: found
      .filter((one) => one.size === undefined && one.priority === undefined)
      .map(({ label }) => label),
    ...defined({ priority, size }),
  }
}

/** Trackers count from 0, the most urgent, to 4 for what is put off. */
export function numberedPriority(number: unknown): Priority | undefined {
  return Number.isInteger(number) && Number(number) >= 0
    ? readPriority(`P${Math.min(Number(number), 3)}`)
    : undefined
}

export interface BoxLists {
  readonly checklist: readonly ChecklistItem[]
  /** The text without the lines that became items. */
  readonly rest: string
}

/** Takes the items of lists with boxes out of a text, but for those that `isOther` calls something else. */
export function takeBoxes(
  text: string,
  isOther: (item: string) => boolean = () => false,
): BoxLists {
  const lines = text.split(/\r?\n/)
  const kinds = lineKinds(lines)
  const boxes = lines.map((line, index) => (kinds[index] === 'text' ? boxOf(line) : undefined))
  const taken = boxes.map((box) =>
    box === undefined || box.text.trim() === '' || isOther(box.text) ? undefined : box,
  )
  return {
    checklist: taken.flatMap((box) =>
      box === undefined ? [] : [{ item: box.text, done: box.isTicked }],
    ),
    rest: lines.filter((_line, index) => taken[index] === undefined).join('\n'),
  }
}

/** A text without its examples and comments. */
export function proseOf(text: string): string {
  const lines = text.split(/\r?\n/)
  const kinds = lineKinds(lines)
  return lines
    .map((line, index) =>
      kinds[index] === 'text' ? line.replaceAll(/`[^`]*`|<!--.*?-->/g, ' ') : '',
    )
    .join('\n')
}
