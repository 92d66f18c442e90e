// Lines of ours between two marking lines, in a file that is somebody else's.

export interface Marks {
  readonly begin: string
  readonly end: string
  /** An empty line before it, as between paragraphs. */
  readonly isApart: boolean
}

/** The texts up to the one with the block at its end, one edit apart. The first has no block. */
export function addBlock(text: string, marks: Marks, lines: readonly string[]): readonly string[] {
  const lineEnd = text.includes('\r\n') ? '\r\n' : '\n'
  const ended = text === '' || text.endsWith('\n') ? text : `${text}${lineEnd}`
  const apart = text === '' || !marks.isApart ? ended : `${ended}${lineEnd}`
  return [text, `${apart}${[marks.begin, ...lines, marks.end, ''].join(lineEnd)}`]
}

/** The lines of the block, without the marks. */
export function blockIn(text: string, marks: Marks): readonly string[] | undefined {
  const lines = text.split('\n').map(withoutReturn)
  const [begin, end] = limits(lines, marks)
  return end === -1 ? undefined : lines.slice(begin + 1, end)
}

export function takeOutBlock(text: string, marks: Marks): string {
  const lines = text.split('\n')
  const [begin, end] = limits(lines.map(withoutReturn), marks)
  if (end === -1) return text
  const isBlankBefore = marks.isApart && begin > 0 && withoutReturn(lines[begin - 1]!) === ''
  const first = isBlankBefore ? begin - 1 : begin
  return lines.toSpliced(first, end - first + 1).join('\n')
}

function limits(lines: readonly string[], { begin, end }: Marks): readonly [number, number] {
  const first = lines.indexOf(begin)
  return [first, first === -1 ? -1 : lines.indexOf(end, first)]
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}
