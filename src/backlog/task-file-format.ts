// One task as a Markdown file, `.tasks/active/{shortname}-{id}.md`. Lines of a text that look like the file's own structure get a
// leading backslash, which Markdown hides and parsing removes.
import { createHash } from 'node:crypto'
import type { Backlog } from './backlog.ts'
import { type Task, cleanLine, cleanPassage } from './task.ts'

export const SECTIONS = [
  'Description',
  'Acceptance Criteria',
  'Technical Details',
  'Dependencies',
] as const

export type SectionName = (typeof SECTIONS)[number]

const MARKER = /^<!-- stint: task (\S+)(?: ([0-9a-f]{12}))? -->[ \t]*$/gm
const STRUCTURAL_LINE =
  /^\\*(?:##[ \t]+(?:description|acceptance criteria|technical details|dependencies)[ \t#]*$|<!-- stint: task |<{7}|>{7})/i

export function renderTaskFile(task: Task, backlog: Pick<Backlog, 'byId' | 'lastId'>): string {
  const head = {
    id: yamlValue(task.id),
    shortname: yamlValue(task.shortname),
    title: yamlValue(task.title),
    priority: task.priority,
    size: task.size,
    status: task.status,
    tags: yamlList(task.labels),
    blocks: yamlList(task.blocks),
    blocked_by: yamlList(task.dependsOn),
    assignee: yamlText(task.assignee),
    parent: yamlText(task.parent),
    group: yamlText(task.group),
    verify: yamlText(task.verify),
    created_at: yamlText(task.createdAt),
    updated_at: yamlText(task.updatedAt),
  }
  const written = Object.entries(head).filter(([, value]) => value !== '')
  const extra = foreignLines(task.extra)
  const criteria = task.checklist.map(({ item, done }) => `- [${done ? 'x' : ' '}] ${item}`)
  const lines = [
    '---',
    ...written.map(([key, value]) => `${key}: ${value}`),
    ...(extra === '' ? [] : [extra]),
    '---',
    ...section('Description', escapeLines(task.description)),
    ...section('Acceptance Criteria', criteria.join('\n')),
    ...section('Technical Details', escapeLines(task.details)),
    ...section('Dependencies', dependencyLines(task, backlog).join('\n')),
    '',
    '',
  ]
  const text = lines.join('\n')
  return `${text}<!-- stint: task ${backlog.lastId} ${hashOf(text)} -->\n`
}

/** `hash` is of everything above the marker. */
export function taskFileMarker(text: string) {
  const match = [...normalizeLines(text).matchAll(MARKER)].at(-1)
  return match && { lastId: match[1]!, hash: match[2] }
}

/** The id in a file, read without a parser: exact for a file we rendered, a good guess for any other. */
export function taskIdIn(text: string): string | undefined {
  const head = /^\s*---[ \t]*\n([\s\S]*?)\n---[ \t]*(?:\n|$)/.exec(normalizeLines(text))?.[1] ?? ''
  const written = /^id[ \t]*:[ \t]*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s#"'][^#\n]*))/m.exec(head)
  if (written === null) return undefined
  const [, json, single, plain] = written
  return cleanLine(json === undefined ? (single ?? plain) : unquoted(json)) || undefined
}

function unquoted(json: string) {
  try {
    return String(JSON.parse(`"${json}"`))
  } catch {
    // An escape that only YAML knows: the parser will read it.
    return ''
  }
}

export function withoutMarker(text: string): string {
  return normalizeLines(text).replaceAll(MARKER, '')
}

/** Whether a file is still as it was rendered, whatever happened to its task since. */
export function isUntouched(text: string): boolean {
  const plain = normalizeLines(text)
  const match = [...plain.matchAll(MARKER)].at(-1)
  if (match?.[2] === undefined) return false
  return (
    plain.slice(match.index + match[0].length).trim() === '' &&
    hashOf(plain.slice(0, match.index)) === match[2]
  )
}

/** Whether two rendered files differ only in the marker's entry. */
export function hasSameContent(a: string, b: string): boolean {
  return isUntouched(a) && isUntouched(b) && taskFileMarker(a)?.hash === taskFileMarker(b)?.hash
}

function escapeLines(text: string) {
  return text
    .split('\n')
    .map((row) => (STRUCTURAL_LINE.test(row) ? `\\${row}` : row))
    .join('\n')
}

export function unescapeLines(text: string): string {
  return text
    .split('\n')
    .map((row) => (row.startsWith('\\') && STRUCTURAL_LINE.test(row) ? row.slice(1) : row))
    .join('\n')
}

export function isDependencyLine(row: string): boolean {
  return (
    /^- (?:waits for|unblocks|part of|made of) `[^`]*`/.test(row) ||
    /^[-*]?\s*none\.?$/i.test(row.trim())
  )
}

function section(name: SectionName, body: string) {
  return ['', `## ${name}`, ...(body === '' ? [] : ['', body])]
}

function dependencyLines(task: Task, { byId }: Pick<Backlog, 'byId'>) {
  const quotable = (text: string) => text.replaceAll('`', "'")
  const shown = (relation: string) => (id: string) => {
    const other = byId.get(id)
    if (other === undefined) return `- ${relation} \`${quotable(id)}\`, which is not in the backlog`
    return `- ${relation} \`${quotable(other.shortname)}\` ${other.title} (${other.status})`
  }
  const lines = [
    ...(task.parent === undefined ? [] : [task.parent]).map(shown('part of')),
    ...task.dependsOn.map(shown('waits for')),
    ...task.blocks.map(shown('unblocks')),
    ...task.children.map(shown('made of')),
  ]
  return lines.length === 0 ? ['None.'] : lines
}

function yamlList(items: readonly string[]) {
  return items.length === 0 ? '' : `[${items.map(yamlValue).join(', ')}]`
}

function yamlText(text = '') {
  return text === '' ? '' : yamlValue(text)
}

// Other line ends or a byte order mark are not an edit.
function normalizeLines(text: string) {
  return text.replace(/^\ufeff/, '').replaceAll(/\r\n?/g, '\n')
}

function hashOf(text: string) {
  return createHash('sha256').update(text).digest('hex').slice(0, 12)
}

const KEYS = new Set(
  'id shortname title priority size status tags blocks blocked_by assignee parent group verify created_at updated_at'.split(
    ' ',
  ),
)
const ALIASES = new Map([
  ['labels', 'tags'],
  ['depends_on', 'blocked_by'],
  ['dependencies', 'blocked_by'],
])

const ANY_KEY = /^(?:"([^"]*)"|'([^']*)'|([^\s#"'\-?:[\]{}&*!|>%@`][^:#]*?))\s*:(?:\s|$)/

/** Reads the lines between the two `---`. Loads the YAML parser only here, as most files are untouched. */
export async function readFrontmatter(source: string) {
  const { isMap, isNode, isScalar } = await import('yaml')
  const { parseYaml, yamlMistake } = await import('../text/parse-yaml.ts')
  // Everything is text (`failsafe`), so that an id like 0123 or 1e5 stays as it was written.
  const parsed = parseYaml(source, { schema: 'failsafe', mapAsMap: true })
  if (!parsed.isValid) return { readable: false as const, reason: cleanLine(yamlMistake(parsed)) }
  const { document, value: written } = parsed
  if (document.contents !== null && !isMap(document.contents))
    return { readable: false as const, reason: 'the head is not a list of keys' }
  const values = new Map<string, unknown>()
  for (const [key, value] of written instanceof Map ? written : []) {
    const name = knownKey(String(key))
    if (name === undefined) continue
    const earlier = values.get(name)
    const areLists = Array.isArray(earlier) && Array.isArray(value)
    values.set(name, areLists ? [...earlier, ...value] : value)
  }
  const remarks: string[] = []
  for (const { key, value } of document.contents?.items ?? []) {
    const name = isScalar(key) ? knownKey(String(key.value)) : undefined
    if (name === undefined || !isNode(value)) continue
    // Quoted it is a word, unquoted it is YAML's null.
    if (isScalar(value) && value.type === 'PLAIN' && /^(?:~|null)$/i.test(String(value.value)))
      values.delete(name)
    // A comment after one of our values would be lost, because the line is rendered again.
    const remark = cleanLine(value.comment)
    if (remark !== '') remarks.push(`# ${remark}`)
  }
  return {
    readable: true as const,
    values,
    extra: cleanPassage([foreignLines(source), ...remarks].join('\n')),
  }
}

function foreignLines(source: string): string {
  let isForeign = false
  const foreign = source.split('\n').filter((text) => {
    if (text.startsWith('#')) return true
    const match = ANY_KEY.exec(text)
    if (match === null) return isForeign && /^(?:\s|- |-$|[\]}]|$)/.test(text)
    isForeign = knownKey(match[1] ?? match[2] ?? match[3] ?? '') === undefined
    return isForeign
  })
  return cleanPassage(foreign.join('\n'))
}

/** Unquoted where every YAML reader sees the same text, else quoted as JSON, which is valid YAML. */
export function yamlValue(text: string): string {
  const isTime = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text)
  const isPlain = /^[A-Za-z0-9_][A-Za-z0-9_./@ -]*$/.test(text)
  const isTaken =
    /^(?:true|false|null|yes|no|on|off|y|n|[\d._]+(?:e\d+)?|0[xob][\da-f]+|\d{4}-\d\d?-\d\d?)$/i.test(
      text,
    )
  return isTime || (isPlain && !isTaken) ? text : JSON.stringify(text)
}

function knownKey(key: string) {
  const name = key.toLowerCase().replaceAll('-', '_')
  return KEYS.has(name) ? name : ALIASES.get(name)
}
