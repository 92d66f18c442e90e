// As much of TOML as manifests are asked for: which tables there are, and the texts and lists of texts in them.

export interface Toml {
  /** The names of the tables, as written: `tool.ruff`. */
  readonly tables: readonly string[]
  /** The text under a key of a table. */
  text(table: string, key: string): string | undefined
  /** The keys of a table, in order. */
  keys(table: string): readonly string[]
  /** The texts in a list under a key of a table. */
  list(table: string, key: string): readonly string[]
}

export function readToml(source: string): Toml {
  const tables = new Map<string, Map<string, string>>([['', new Map()]])
  let table = tables.get('')!
  let open: string | undefined
  for (const line of source.split(/\r?\n/)) {
    const header = /^\s*\[\[?\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?$/.exec(line)
    const setting = /^\s*("[^"]*"|'[^']*'|[\w.-]+)\s*=\s*(.*)$/.exec(line)
    if (open !== undefined) {
      table.set(open, `${table.get(open)!}\n${line}`)
      if (isClosed(table.get(open)!)) open = undefined
    } else if (header !== null) {
      const name = header[1]!.replaceAll(/["'\s]/g, '')
      table = tables.get(name) ?? new Map<string, string>()
      tables.set(name, table)
    } else if (setting !== null) {
      const key = unquoted(setting[1]!)
      table.set(key, setting[2]!)
      if (!isClosed(setting[2]!)) open = key
    }
  }
  return {
    tables: [...tables.keys()].filter((name) => name !== ''),
    text: (name, key) => textOf(tables.get(name)?.get(key)),
    keys: (name) => [...(tables.get(name)?.keys() ?? [])],
    list: (name, key) => textsIn(tables.get(name)?.get(key) ?? ''),
  }
}

/** Whether a list that was begun has ended; everything else ends with its line. */
function isClosed(value: string): boolean {
  if (!value.trimStart().startsWith('[')) return true
  const bare = value.replaceAll(/"(?:[^"\\]|\\.)*"|'[^']*'|#.*$/gm, '')
  return bare.split('[').length <= bare.split(']').length
}

function textOf(value: string | undefined): string | undefined {
  return value === undefined
    ? undefined
    : /^(?:"((?:[^"\\]|\\.)*)"|'([^']*)')/
        .exec(value)
        ?.slice(1)
        .find((part) => part !== undefined)
}

function textsIn(value: string): readonly string[] {
  const bare = value.replaceAll(/^\s*#.*$/gm, '')
  return [...bare.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'/g)].map((match) => match[1] ?? match[2]!)
}

function unquoted(key: string): string {
  return key.replace(/^(["'])(.*)\1$/, '$2')
}
