import { type Priority, readPriority, readSize } from '../../backlog/task.ts'
import type { ChecklistItem } from '../../session/entries.ts'
import { defined } from '../../text/defined.ts'

type LineKind = 'text' | 'code' | 'comment'

const FENCE = /^\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)?(`{3,}|~{3,})/

/** An unclosed fence or comment counts as text. */
export function lineKinds(lines: readonly string[]): readonly LineKind[] {
  const kinds: LineKind[] = lines.map(() => 'text')
  // A block that is unclosed from one line on is unclosed from any later one.
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
  // The front matter of the file.
  if (isFirst && line.replace(/^\uFEFF/, '').trimEnd() === '---') {
    const isEnd = (later: string) => later.trimEnd() === '---'
    return { kind: 'comment', mark: '---', isOver: false, isEnd }
  }
  const open = line.lastIndexOf('<!--')
  if (open === -1) return undefined
  const isOver = line.includes('-->', open)
  // A trailing comment does not change the kind of its line.
  if (isOver && !line.trim().startsWith('<!--')) return undefined
  return { kind: 'comment', mark: '<!--', isOver, isEnd: (later) => later.includes('-->') }
}

export interface Checkbox {
  /** In columns; a tab advances to the next multiple of four. */
  readonly indent: number
  readonly at: number
  readonly isTicked: boolean
  readonly text: string
}

const BOX = /^(\uFEFF?[ \t]*)((?:[-*+]|\d{1,9}[.)])[ \t]+\[)([ xX])\](?:[ \t]+(.*))?$/

export function parseCheckbox(line: string): Checkbox | undefined {
  const match = BOX.exec(line.trimEnd())
  if (match === null) return undefined
  const [, blank = '', marker = '', ticked = '', text = ''] = match
  const at = blank.length + marker.length
  return { indent: indentOf(blank), at, isTicked: ticked !== ' ', text }
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

const SIZE_OR_PRIORITY = /^(size|priority|prio)\s*[:/=]\s*(\S+)$/i

/** `size:S` and `size/S` are a size; `priority:P1`, `priority: high` and `P1` are a priority. The other labels stay labels. */
export function readLabels(all: readonly string[]) {
  const found = all.map((label) => {
    const [, about = '', word = ''] = SIZE_OR_PRIORITY.exec(label.trim()) ?? []
    if (about.toLowerCase() === 'size') return { label, size: readSize(word) }
    if (about !== '')
      return { label, priority: readPriority(word) ?? numberedPriority(Number(word)) }
    return { label, priority: /^P[0-3]$/i.test(label.trim()) ? readPriority(label) : undefined }
  })
  const size = found.find((one) => one.size !== undefined)?.size
  const priority = found.find((one) => one.priority !== undefined)?.priority
  const others = found.filter((one) => one.size === undefined && one.priority === undefined)
  return { labels: others.map(({ label }) => label), ...defined({ priority, size }) }
}

/** Trackers count from 0, the most urgent, to 4, the backlog. */
export function numberedPriority(number: unknown): Priority | undefined {
  return Number.isInteger(number) && Number(number) >= 0
    ? readPriority(`P${Math.min(Number(number), 3)}`)
    : undefined
}

export function extractChecklist(text: string, isOther: (item: string) => boolean = () => false) {
  const lines = text.split(/\r?\n/)
  const kinds = lineKinds(lines)
  const checklist: ChecklistItem[] = []
  const rest = lines.filter((line, index) => {
    const box = kinds[index] === 'text' ? parseCheckbox(line) : undefined
    if (box === undefined || box.text.trim() === '' || isOther(box.text)) return true
    checklist.push({ item: box.text, done: box.isTicked })
    return false
  })
  return { checklist, rest: rest.join('\n') }
}

export function stripCodeAndComments(text: string): string {
  const lines = text.split(/\r?\n/)
  const kinds = lineKinds(lines)
  const prose = (line: string) => line.replaceAll(/`[^`]*`|<!--.*?-->/g, ' ')
  return lines.map((line, index) => (kinds[index] === 'text' ? prose(line) : '')).join('\n')
}
