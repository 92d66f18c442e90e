/** Rows of words under a head, to be drawn for a terminal, a page or a document. The first column names the row. */
export interface Table {
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

export function markdownTable({ head, rows }: Table): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}
