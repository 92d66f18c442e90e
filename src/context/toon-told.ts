const HEAD = /^(\w+)\[(\d+)\|\]\{([^}]+)\}:$/
/** A cell that is quoted already. Within one a quotation mark is escaped, so that this is seen at its beginning only. */
const QUOTED = /(?:^|\|)"/g

/** Characters of the tables that a text tells as TOON, and what these would be as JSON. Undefined where there are none. */
export function toonIn(
  text: string,
): { readonly chars: number; readonly json: number } | undefined {
  const lines = text.split('\n')
  let chars = 0
  let json = 0
  for (const [index, head] of lines.entries()) {
    const [, name, count, columns] = HEAD.exec(head) ?? []
    if (name === undefined || columns === undefined) continue
    const names = columns.split('|')
    const rows = lines
      .slice(index + 1, index + 1 + Number(count))
      .filter((row) => row.startsWith('  '))
    chars += [head, ...rows].reduce((sum, line) => sum + line.length + 1, 0)
    json +=
      `{"${name}":[]}`.length +
      rows.reduce((sum, row) => sum + jsonLength(row.trim(), names), 0) +
      rows.length -
      1
  }
  return chars === 0 ? undefined : { chars, json }
}

/** Each cell has its name before it and quotation marks around it; commas stand where the bars stood. */
function jsonLength(row: string, names: readonly string[]): number {
  const quoted = row.match(QUOTED)?.length ?? 0
  const labels = names.reduce((sum, name) => sum + `"${name}":`.length, 0)
  return '{}'.length + labels + row.length + 2 * (names.length - quoted)
}
