// A parser for the Markdown that documents, handoffs and models use. Anything else stays a paragraph.

export type MarkdownBlock =
  | { readonly type: 'heading'; readonly level: number; readonly text: string }
  | { readonly type: 'paragraph'; readonly text: string }
  | { readonly type: 'code'; readonly language: string; readonly text: string }
  | {
      readonly type: 'list'
      readonly isOrdered: boolean
      readonly start: number
      readonly items: readonly ListItem[]
    }
  | { readonly type: 'quote'; readonly blocks: readonly MarkdownBlock[] }
  | {
      readonly type: 'table'
      readonly head: readonly string[]
      readonly rows: readonly (readonly string[])[]
    }
  | { readonly type: 'rule' }

interface ListItem {
  readonly isDone?: boolean
  readonly blocks: readonly MarkdownBlock[]
}

// Deeper nesting is shown as plain text.
const MAX_DEPTH = 12
const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^`]*)$/
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/
const RULE = /^ {0,3}([-*_])(?: *\1){2,}\s*$/
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])( {1,4}|$)(.*)$/
const BOX = /^\[([ xX])\] +(.*)$/
const ROW = /^\s*\|(.*)\|\s*$/
const ROW_RULE = /^\s*\|[\s:|-]+\|\s*$/

export function readBlocks(text: string, depth = 0): readonly MarkdownBlock[] {
  if (depth > MAX_DEPTH) return [{ type: 'paragraph', text }]
  const lines = text.replaceAll(/\r\n?/g, '\n').split('\n')
  const blocks: MarkdownBlock[] = []
  let paragraph: string[] = []
  const endParagraph = () => {
    if (paragraph.length > 0) blocks.push({ type: 'paragraph', text: paragraph.join('\n') })
    paragraph = []
  }
  for (let at = 0; at < lines.length;) {
    const line = lines[at]!
    const fence = FENCE.exec(line)
    const heading = HEADING.exec(line)
    const item = ITEM.exec(line)
    if (fence) {
      endParagraph()
      const end = lines.findIndex((other, index) => index > at && isFenceEnd(other, fence[1]!))
      const stop = end === -1 ? lines.length : end
      blocks.push({
        type: 'code',
        language: fence[2]!.trim(),
        text: lines.slice(at + 1, stop).join('\n'),
      })
      at = stop + 1
    } else if (line.trim() === '') {
      endParagraph()
      at += 1
    } else if (heading) {
      endParagraph()
      blocks.push({ type: 'heading', level: heading[1]!.length, text: heading[2]! })
      at += 1
    } else if (RULE.test(line)) {
      endParagraph()
      blocks.push({ type: 'rule' })
      at += 1
    } else if (/^ {0,3}>/.test(line)) {
      endParagraph()
      const end = endOf(lines, at, (other) => /^ {0,3}>/.test(other))
      const inner = lines.slice(at, end).map((other) => other.replace(/^ {0,3}> ?/, ''))
      blocks.push({ type: 'quote', blocks: readBlocks(inner.join('\n'), depth + 1) })
      at = end
    } else if (item && !(paragraph.length > 0 && item[4] === '')) {
      endParagraph()
      at = readList(lines, at, blocks, depth)
    } else if (ROW.test(line) && ROW_RULE.test(lines[at + 1] ?? '')) {
      endParagraph()
      const end = endOf(lines, at + 2, (other) => ROW.test(other))
      blocks.push({
        type: 'table',
        head: cellsOf(line),
        rows: lines.slice(at + 2, end).map(cellsOf),
      })
      at = end
    } else {
      paragraph.push(line)
      at += 1
    }
  }
  endParagraph()
  return blocks
}

function readList(
  lines: readonly string[],
  start: number,
  blocks: MarkdownBlock[],
  depth: number,
): number {
  const first = ITEM.exec(lines[start]!)!
  const isOrdered = /\d/.test(first[2]!)
  const items: ListItem[] = []
  let at = start
  for (;;) {
    const item = ITEM.exec(lines[at] ?? '')
    if (!item || /\d/.test(item[2]!) !== isOrdered || RULE.test(lines[at]!)) break
    const inset = item[1]!.length + item[2]!.length + Math.max(item[3]!.length, 1)
    let end = at + 1
    for (; end < lines.length; end += 1) {
      const line = lines[end]!
      const isInside = indentOf(line) >= Math.min(inset, 2) && line.trim() !== ''
      const isGap =
        line.trim() === '' &&
        indentOf(lines[end + 1] ?? '') >= Math.min(inset, 2) &&
        (lines[end + 1] ?? '').trim() !== ''
      if (!isInside && !isGap) break
    }
    const rest = lines.slice(at + 1, end).map((line) => line.slice(Math.min(indentOf(line), inset)))
    const box = BOX.exec(item[4]!)
    const text = [box ? box[2]! : item[4]!, ...rest].join('\n')
    items.push({ ...(box ? { isDone: box[1] !== ' ' } : {}), blocks: readBlocks(text, depth + 1) })
    at = end
    if ((lines[at] ?? 'x').trim() === '' && ITEM.test(lines[at + 1] ?? '')) at += 1
  }
  blocks.push({
    type: 'list',
    isOrdered,
    start: isOrdered ? Number.parseInt(first[2]!, 10) : 1,
    items,
  })
  return at
}

function isFenceEnd(line: string, fence: string): boolean {
  const text = line.trim()
  return text.length >= fence.length && text === fence[0]!.repeat(text.length)
}

function endOf(lines: readonly string[], from: number, holds: (line: string) => boolean): number {
  let at = from
  while (at < lines.length && holds(lines[at]!)) at += 1
  return at
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length
}

function cellsOf(line: string): readonly string[] {
  return ROW.exec(line)![1]!
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll(String.raw`\|`, '|'))
}

/** Inline content of a paragraph. */
export type MarkdownSpan =
  | { readonly type: 'text' | 'code'; readonly text: string }
  | { readonly type: 'strong' | 'emphasis' | 'struck'; readonly spans: readonly MarkdownSpan[] }
  | { readonly type: 'link'; readonly to: string; readonly spans: readonly MarkdownSpan[] }

const MAX_SPAN_DEPTH = 6
// A longer paragraph is not prose. Within it, closing marks are searched only a few hundred characters ahead, which keeps parsing fast.
const MAX_PROSE = 20_000

const SPAN =
  /(?<code>`+)(?<inCode>[^`]|[^`][\s\S]{0,600}?[^`])\k<code>(?!`)|(?<strong>\*\*|__)(?=\S)(?<inStrong>[^\n]{0,600}?\S)\k<strong>(?!\w)|(?<struck>~~)(?=\S)(?<inStruck>[^\n]{0,600}?\S)~~|(?<!\w)(?<emphasis>[*_])(?=[^\s*_])(?<inEmphasis>[^\n*_]{0,600}?[^\s*_])\k<emphasis>(?!\w)|\[(?<label>[^\]\n]{1,500})\]\((?<target>[^\s()]{1,2000})\)|(?<bare>https?:\/\/[^\s<>"'`)\]]{1,2000})|\\(?<escaped>[!-/:-@[-`{-~])/

export function readSpans(text: string, depth = 0): readonly MarkdownSpan[] {
  if (text.length > MAX_PROSE || depth > MAX_SPAN_DEPTH) return [{ type: 'text', text }]
  const spans: MarkdownSpan[] = []
  let rest = text
  for (let found = SPAN.exec(rest); found !== null; found = SPAN.exec(rest)) {
    if (found.index > 0) spans.push({ type: 'text', text: rest.slice(0, found.index) })
    spans.push(spanOf(found[0], found.groups!, depth))
    rest = rest.slice(found.index + found[0].length)
  }
  if (rest !== '') spans.push({ type: 'text', text: rest })
  return spans
}

function spanOf(
  match: string,
  groups: Readonly<Record<string, string | undefined>>,
  depth: number,
): MarkdownSpan {
  const { inCode, inStrong, inStruck, inEmphasis, label, target, bare, escaped } = groups
  if (inCode !== undefined) return { type: 'code', text: inCode }
  if (inStrong !== undefined) return { type: 'strong', spans: readSpans(inStrong, depth + 1) }
  if (inStruck !== undefined) return { type: 'struck', spans: readSpans(inStruck, depth + 1) }
  if (inEmphasis !== undefined) return { type: 'emphasis', spans: readSpans(inEmphasis, depth + 1) }
  if (escaped !== undefined) return { type: 'text', text: escaped }
  const to = bare ?? target!
  // Only URLs of other sites become links. Anything else would be a URL within this page, or a script.
  if (!isExternal(to)) return { type: 'text', text: match }
  return {
    type: 'link',
    to,
    spans: bare === undefined ? readSpans(label!, MAX_SPAN_DEPTH) : [{ type: 'text', text: bare }],
  }
}

function isExternal(address: string): boolean {
  if (!/^https?:\/\//i.test(address)) return false
  return URL.canParse(address)
}
