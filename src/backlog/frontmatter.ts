import { line, passage } from './canonical.ts'

/** The head of a task file: the values by key, and the lines that are not ours, verbatim. */
export type Frontmatter =
  | {
      readonly readable: true
      readonly values: ReadonlyMap<string, unknown>
      readonly extra: string
    }
  | { readonly readable: false; readonly reason: string }

/** Every key that is Stint's, with the words other task files use for it. */
const KEYS: Readonly<Record<string, string>> = {
  id: 'id',
  shortname: 'shortname',
  title: 'title',
  priority: 'priority',
  size: 'size',
  status: 'status',
  tags: 'tags',
  labels: 'tags',
  blocks: 'blocks',
  blocked_by: 'blocked_by',
  depends_on: 'blocked_by',
  dependencies: 'blocked_by',
  assignee: 'assignee',
  parent: 'parent',
  group: 'group',
  verify: 'verify',
  created_at: 'created_at',
  updated_at: 'updated_at',
}

const ANY_KEY = /^(?:"([^"]*)"|'([^']*)'|([^\s#"'\-?:[\]{}&*!|>%@`][^:#]*?))\s*:(?:\s|$)/

/** Reads the lines between the two `---`. Loads the YAML parser only here: most files are as they were written. */
export async function readFrontmatter(source: string): Promise<Frontmatter> {
  const { isMap, isNode, isScalar, parseDocument } = await import('yaml')
  // Everything is text (`failsafe`), so that an id like 0123 or 1e5 stays what it was written as.
  const document = parseDocument(source, { schema: 'failsafe', logLevel: 'silent' })
  const [error] = document.errors
  if (error !== undefined) return { readable: false, reason: line(error.message.split('\n')[0]) }
  if (document.contents !== null && !isMap(document.contents))
    return { readable: false, reason: 'the head is not a list of keys' }
  const written = asMap(document)
  if (written === undefined)
    return { readable: false, reason: 'the head refers to itself too often' }
  const values = new Map<string, unknown>()
  for (const [key, value] of written) {
    const name = ourKey(String(key))
    if (name !== undefined) values.set(name, joinedLists(values.get(name), value))
  }
  const remarks: string[] = []
  for (const { key, value } of document.contents?.items ?? []) {
    const name = isScalar(key) ? ourKey(String(key.value)) : undefined
    if (name === undefined || !isNode(value)) continue
    // Quoted it is a word, plain it is YAML's way of saying nothing.
    if (isScalar(value) && value.type === 'PLAIN' && /^(?:~|null)$/i.test(String(value.value)))
      values.delete(name)
    // A remark behind one of our values would be lost with the line, which is written anew.
    const remark = line(value.comment)
    if (remark !== '') remarks.push(`# ${remark}`)
  }
  return { readable: true, values, extra: passage([foreignLines(source), ...remarks].join('\n')) }
}

/** The lines of a head that belong to none of our keys: other keys with what is under them, and comments. */
export function foreignLines(source: string): string {
  let isForeign = false
  const kept = source.split('\n').filter((text) => {
    if (text.startsWith('#')) return true
    const match = ANY_KEY.exec(text)
    if (match === null) return isForeign && /^(?:\s|- |-$|[\]}]|$)/.test(text)
    isForeign = ourKey(match[1] ?? match[2] ?? match[3] ?? '') === undefined
    return isForeign
  })
  return passage(kept.join('\n'))
}

/** A value as YAML: plain where every reader takes it for the same text, else quoted as JSON, which YAML includes. */
export function yamlValue(text: string): string {
  const isTime = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text)
  const isPlain = /^[A-Za-z0-9_][A-Za-z0-9_./@ -]*$/.test(text)
  const isTaken =
    /^(?:true|false|null|yes|no|on|off|y|n|[\d._]+(?:e\d+)?|0[xob][\da-f]+|\d{4}-\d\d?-\d\d?)$/i.test(
      text,
    )
  return isTime || (isPlain && !isTaken) ? text : JSON.stringify(text)
}

export function yamlList(items: readonly string[]): string {
  return `[${items.map(yamlValue).join(', ')}]`
}

function ourKey(key: string): string | undefined {
  const name = key.toLowerCase().replaceAll('-', '_')
  return Object.hasOwn(KEYS, name) ? KEYS[name] : undefined
}

function asMap(document: {
  toJS: (options: { mapAsMap: true }) => unknown
}): ReadonlyMap<unknown, unknown> | undefined {
  try {
    const value = document.toJS({ mapAsMap: true })
    return value instanceof Map ? value : new Map()
  } catch (error) {
    // The parser refuses aliases that would unfold without end; anything else is a defect of ours.
    if (error instanceof ReferenceError) return undefined
    throw error
  }
}

function joinedLists(earlier: unknown, value: unknown): unknown {
  return Array.isArray(earlier) && Array.isArray(value) ? [...earlier, ...value] : value
}
