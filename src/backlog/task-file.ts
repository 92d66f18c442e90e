// One task as a Markdown file, `.tasks/active/{shortname}-{id}.md`. The texts of a task may hold
// anything, also lines that would look like the file's own; those get a backslash in front, which
// Markdown does not show and reading takes off again.
import { createHash } from 'node:crypto'
import type { Backlog } from './backlog.ts'
import { line } from './canonical.ts'
import { foreignLines, yamlList, yamlValue } from './frontmatter.ts'
import type { Task } from './task.ts'

export const SECTIONS = [
  'Description',
  'Acceptance Criteria',
  'Technical Details',
  'Dependencies',
] as const

export type SectionName = (typeof SECTIONS)[number]

/** What a rendered file says of itself in its last line. */
export interface Marker {
  /** The newest entry of the backlog it was rendered from. */
  readonly lastId: string
  /** Of everything above the marker, to tell a file that nobody touched. */
  readonly hash?: string
}

const MARKER = /^<!-- stint: task (\S+)(?: ([0-9a-f]{12}))? -->[ \t]*$/gm
const OWN_LINE =
  /^\\*(?:##[ \t]+(?:description|acceptance criteria|technical details|dependencies)[ \t#]*$|<!-- stint: task |<{7}|>{7})/i

/** The file that shows a task. It can be made again at any time; only what a person changed in it is news. */
export function renderTaskFile(task: Task, backlog: Pick<Backlog, 'byId' | 'lastId'>): string {
  const head: readonly (readonly [string, string])[] = [
    ['id', yamlValue(task.id)],
    ['shortname', yamlValue(task.shortname)],
    ['title', yamlValue(task.title)],
    ['priority', task.priority],
    ['size', task.size],
    ['status', task.status],
    ['tags', listOrNothing(task.labels)],
    ['blocks', listOrNothing(task.blocks)],
    ['blocked_by', listOrNothing(task.dependsOn)],
    ['assignee', textOrNothing(task.assignee)],
    ['parent', textOrNothing(task.parent)],
    ['group', textOrNothing(task.group)],
    ['verify', textOrNothing(task.verify)],
    ['created_at', textOrNothing(task.createdAt)],
    ['updated_at', textOrNothing(task.updatedAt)],
  ]
  const extra = foreignLines(task.extra)
  const lines = [
    '---',
    ...head.filter(([, value]) => value !== '').map(([key, value]) => `${key}: ${value}`),
    ...(extra === '' ? [] : [extra]),
    '---',
    ...section('Description', escapeLines(task.description)),
    ...section(
      'Acceptance Criteria',
      task.checklist.map(({ item, done }) => `- [${done ? 'x' : ' '}] ${item}`).join('\n'),
    ),
    ...section('Technical Details', escapeLines(task.details)),
    ...section('Dependencies', dependencyLines(task, backlog).join('\n')),
    '',
    '',
  ]
  const text = lines.join('\n')
  return `${text}<!-- stint: task ${backlog.lastId} ${hashOf(text)} -->\n`
}

/** The marker of a file, the last one if it has several. */
export function markerOf(text: string): Marker | undefined {
  const match = [...plainLines(text).matchAll(MARKER)].at(-1)
  if (match === undefined) return undefined
  return { lastId: match[1]!, ...(match[2] === undefined ? {} : { hash: match[2] }) }
}

/** The id a file gives, read without a parser: exact for a file we rendered, a good guess for any other. */
export function idOf(text: string): string | undefined {
  const head = /^\s*---[ \t]*\n([\s\S]*?)\n---[ \t]*(?:\n|$)/.exec(plainLines(text))?.[1] ?? ''
  const written = /^id[ \t]*:[ \t]*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s#"'][^#\n]*))/m.exec(head)
  if (written === null) return undefined
  const [, json, single, plain] = written
  const id = json === undefined ? line(single ?? plain) : line(unquoted(json))
  return id === '' ? undefined : id
}

function unquoted(json: string): string {
  try {
    return String(JSON.parse(`"${json}"`))
  } catch {
    // An escape that only YAML knows: the parser will read it.
    return ''
  }
}

export function withoutMarker(text: string): string {
  return plainLines(text).replaceAll(MARKER, '')
}

/** Whether a file is as it was rendered, whatever happened to the task since. */
export function isUntouched(text: string): boolean {
  const plain = plainLines(text)
  const match = [...plain.matchAll(MARKER)].at(-1)
  if (match?.[2] === undefined) return false
  return (
    plain.slice(match.index + match[0].length).trim() === '' &&
    hashOf(plain.slice(0, match.index)) === match[2]
  )
}

/** Whether two renderings differ in nothing but the entry they were made after. */
export function showsTheSame(a: string, b: string): boolean {
  return isUntouched(a) && isUntouched(b) && markerOf(a)?.hash === markerOf(b)?.hash
}

function escapeLines(text: string): string {
  return text
    .split('\n')
    .map((row) => (OWN_LINE.test(row) ? `\\${row}` : row))
    .join('\n')
}

export function unescapeLines(text: string): string {
  return text
    .split('\n')
    .map((row) => (row.startsWith('\\') && OWN_LINE.test(row) ? row.slice(1) : row))
    .join('\n')
}

/** The lines under Dependencies are computed; this tells them from what a person wrote there. */
export function isDependencyLine(row: string): boolean {
  return (
    /^- (?:waits for|unblocks|part of|made of) `[^`]*`/.test(row) ||
    /^[-*]?\s*none\.?$/i.test(row.trim())
  )
}

function section(name: SectionName, body: string): readonly string[] {
  return ['', `## ${name}`, ...(body === '' ? [] : ['', body])]
}

function dependencyLines(task: Task, backlog: Pick<Backlog, 'byId'>): readonly string[] {
  const shown = (relation: string) => (id: string) => {
    const other = backlog.byId.get(id)
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

function quotable(text: string): string {
  return text.replaceAll('`', "'")
}

function listOrNothing(items: readonly string[]): string {
  return items.length === 0 ? '' : yamlList(items)
}

function textOrNothing(text: string | undefined): string {
  return text === undefined || text === '' ? '' : yamlValue(text)
}

// An editor or a checkout that changes line ends, or puts a mark of byte order in front, has changed nothing.
function plainLines(text: string): string {
  return text.replace(/^\ufeff/, '').replaceAll(/\r\n?/g, '\n')
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12)
}
