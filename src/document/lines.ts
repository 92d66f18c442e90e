export interface ListItem {
  readonly text: string
  readonly end: number
}

/** A fence that never closes is an ordinary line. */
export function fencedLines(lines: readonly string[]): readonly boolean[] {
  const fenced = lines.map(() => false)
  const unclosed = new Set<string>()
  for (let start = 0; start < lines.length; start += 1) {
    const mark = /^(?:`{3,}|~{3,})/.exec(lines[start]!)?.[0]
    if (mark === undefined || unclosed.has(mark)) continue
    const end = lines.findIndex(
      (line, index) =>
        index > start && line.startsWith(mark) && line.slice(mark.length).trim() === '',
    )
    if (end === -1) {
      unclosed.add(mark)
      continue
    }
    fenced.fill(true, start, end + 1)
    start = end
  }
  return fenced
}

const LIST_MARKER = /^(?:[-*+]|\d+[.)])(?: +|$)/

export function listItemAt(lines: readonly string[], start: number): ListItem | undefined {
  const marker = LIST_MARKER.exec(lines[start]!)?.[0]
  if (marker === undefined) return undefined
  const { text, end } = continued(lines, start + 1, marker.length)
  return { text: [lines[start]!.slice(marker.length), ...text].join('\n').trimEnd(), end }
}

export function continued(
  lines: readonly string[],
  start: number,
  width: number,
): { text: readonly string[]; end: number } {
  const text: string[] = []
  let end = start
  let blanks = 0
  for (let index = start; index < lines.length; index += 1) {
    const line = lines[index]!
    if (line.trim() === '') {
      blanks += 1
      continue
    }
    if (!/^(?: {2}|\t)/.test(line)) break
    text.push(...Array.from({ length: blanks }, () => ''), dedent(line, width))
    blanks = 0
    end = index + 1
  }
  return { text, end }
}

function dedent(line: string, width: number) {
  const indent = /^ */.exec(line)![0].length
  return line.slice(Math.min(indent, width))
}

export function trimBlank(lines: readonly string[]): readonly string[] {
  let start = 0
  let end = lines.length
  while (start < end && lines[start]!.trim() === '') start += 1
  while (end > start && lines[end - 1]!.trim() === '') end -= 1
  return lines.slice(start, end)
}
