const HEAD = /^(\w+)\[(\d+)\|\]\{([^}]+)\}:$/

/** Characters of the tables in a text as TOON, and what these would be as JSON. */
export function measureToon(
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
    json += `{"${name}":[]}`.length + rows.length - 1
    for (const row of rows) json += jsonLength(row.trim(), names)
  }
  return chars === 0 ? undefined : { chars, json }
}

/** Each cell has its name before it and quotation marks around it. */
function jsonLength(row: string, names: readonly string[]) {
  // Within a quoted cell a quotation mark is escaped.
  const quoted = row.match(/(?:^|\|)"/g)?.length ?? 0
  const labels = names.reduce((sum, name) => sum + `"${name}":`.length, 0)
  return '{}'.length + labels + row.length + 2 * (names.length - quoted)
}
