const TABLE_HEADER = /^(\w+)\[(\d+)\|\]\{([^}]+)\}:$/

/** Size of the TOON tables in a text, and of the same tables as JSON. */
export function measureToon(
  text: string,
): { readonly chars: number; readonly json: number } | undefined {
  const lines = text.split('\n')
  let chars = 0
  let json = 0
  for (const [index, head] of lines.entries()) {
    const [, name, count, columns] = TABLE_HEADER.exec(head) ?? []
    if (name === undefined || columns === undefined) continue
    const names = columns.split('|')
    const rows = lines
      .slice(index + 1, index + 1 + Number(count))
      .filter((row) => row.startsWith('  '))
    chars += [head, ...rows].reduce((sum, line) => sum + line.length + 1, 0)
    json += `{"${name}":[]}`.length + rows.length - 1
    for (const row of rows) json += jsonLength(row.trim(), names)
  }
  return chars === 0 ? undefined : { chars, json }
}

/** JSON repeats the column name and adds quotes around each cell. */
function jsonLength(row: string, names: readonly string[]) {
  // Quotes inside a quoted cell are escaped, so these are opening quotes.
  const quoted = row.match(/(?:^|\|)"/g)?.length ?? 0
  const labels = names.reduce((sum, name) => sum + `"${name}":`.length, 0)
  return '{}'.length + labels + row.length + 2 * (names.length - quoted)
}
