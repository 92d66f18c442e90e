import type { ChecklistItem, TaskStatus } from '../session/entries.ts'
import {
  type Priority,
  type Size,
  joined,
  line,
  passage,
  readPriority,
  readSize,
  readStatus,
} from './task.ts'
import {
  type Marker,
  SECTIONS,
  type SectionName,
  isDependencyLine,
  markerOf,
  readFrontmatter,
  unescapeLines,
  withoutMarker,
} from './task-file.ts'
import { defined } from '../text/defined.ts'

/** What a task file says. A key that is absent is undefined where that means "as before", and empty where it means "none". */
export interface TaskFileContent {
  readonly id?: string
  readonly shortname?: string
  readonly title?: string
  readonly priority?: Priority
  readonly size?: Size
  readonly status?: TaskStatus
  readonly createdAt?: string
  readonly labels: readonly string[]
  readonly dependsOn: readonly string[]
  readonly blocks: readonly string[]
  readonly assignee: string
  readonly parent: string
  readonly group: string
  readonly verify: string
  readonly description: string
  readonly details: string
  readonly checklist: readonly ChecklistItem[]
  readonly extra: string
}

export type ParsedTaskFile =
  | {
      readonly readable: true
      readonly content: TaskFileContent
      readonly marker?: Marker
      /** Values that were not understood, each in one line. */
      readonly remarks: readonly string[]
    }
  | { readonly readable: false; readonly reason: string }

/** Reads a task file, ours or made by hand or by another tool. Never throws. */
export async function parseTaskFile(fileText: string): Promise<ParsedTaskFile> {
  const marker = markerOf(fileText)
  const text = withoutMarker(fileText)
  if (text.trim() === '') return unreadable('it is empty')
  if (/^(?:<{7}|>{7})(?:\s|$)/m.test(text)) return unreadable('it has conflict markers')
  if (text.includes('\0')) return unreadable('it is not text')
  const [head, body] = splitHead(text)
  if (head === undefined && /^---\s*$/m.test(text.trimStart().split('\n', 1)[0] ?? ''))
    return unreadable('its head has no end')
  const frontmatter = await readFrontmatter(head ?? '')
  if (!frontmatter.readable) return unreadable(`its head is not YAML: ${frontmatter.reason}`)
  const { values, extra } = frontmatter
  const remarks: string[] = []
  const understood = <T>(
    key: string,
    read: (value: unknown) => T | undefined,
    choices: string,
  ): T | undefined => {
    const written = line(values.get(key))
    const value = read(written)
    if (value === undefined && written !== '')
      remarks.push(`${key}: ${written} is not one of ${choices}`)
    return value
  }
  const sections = splitSections(body)
  const title = titleOf(line(values.get('title')), sections.preamble, head !== undefined)
  const criteria = readCriteria(sections.of('Acceptance Criteria'))
  const written = {
    id: line(values.get('id')),
    shortname: line(values.get('shortname')),
    title: title.title,
    createdAt: line(values.get('created_at')),
    priority: understood('priority', readPriority, 'P0, P1, P2, P3'),
    size: understood('size', readSize, 'XS, S, M, L, XL'),
    status: understood('status', readStatus, 'ready, in_progress, blocked, completed, failed'),
  }
  const content: TaskFileContent = {
    ...Object.fromEntries(
      Object.entries(written).filter(([, value]) => value !== undefined && value !== ''),
    ),
    labels: list(values.get('tags')),
    dependsOn: list(values.get('blocked_by')),
    blocks: list(values.get('blocks')),
    assignee: line(values.get('assignee')),
    parent: line(values.get('parent')),
    group: line(values.get('group')),
    verify: passage(values.get('verify')),
    description: joined(title.rest, unescapeLines(sections.of('Description'))),
    details: joined(
      unescapeLines(sections.of('Technical Details')),
      criteria.loose,
      looseDependencies(sections.of('Dependencies')),
    ),
    checklist: criteria.checklist,
    extra,
  }
  return { readable: true, content, remarks, ...defined({ marker }) }
}

function unreadable(reason: string): ParsedTaskFile {
  return { readable: false, reason }
}

function splitHead(text: string): readonly [head: string | undefined, body: string] {
  const match = /^\s*---[ \t]*\n(?:([\s\S]*?)\n)?---[ \t]*(?:\n|$)/.exec(text)
  return match === null ? [undefined, text] : [match[1] ?? '', text.slice(match[0].length)]
}

const HEADING = /^##[ \t]+(.*?)[ \t#]*$/

/** The text under each of our headings. Any other heading belongs to the section in which it stands. */
function splitSections(body: string): { preamble: string; of: (name: SectionName) => string } {
  const texts = new Map<SectionName | '', string[]>()
  let current: SectionName | '' = ''
  for (const text of body.split('\n')) {
    const heading = HEADING.exec(text)?.[1]?.toLowerCase()
    const own = SECTIONS.find((name) => name.toLowerCase() === heading)
    current = own ?? current
    const lines = texts.get(current) ?? []
    texts.set(current, lines)
    // A section that comes twice is read on; the blank line keeps its paragraphs apart.
    lines.push(own === undefined ? text : '')
  }
  return {
    preamble: (texts.get('') ?? []).join('\n'),
    of: (name) => (texts.get(name) ?? []).join('\n'),
  }
}

function titleOf(
  written: string,
  preamble: string,
  hasHead: boolean,
): { title: string; rest: string } {
  const text = passage(preamble)
  const [first = '', ...others] = text.split('\n')
  const heading = /^#[ \t]+(.+?)[ \t#]*$/.exec(first)?.[1]
  const named = line(heading ?? (hasHead ? '' : first.replace(/^[#>*\s-]+/, '')))
  if (written === '' && named !== '') return { title: named, rest: others.join('\n') }
  // The title over again, as many tools write it, says nothing new.
  return {
    title: written,
    rest: heading !== undefined && line(heading) === written ? others.join('\n') : text,
  }
}

function readCriteria(text: string): { checklist: readonly ChecklistItem[]; loose: string } {
  const checklist: { item: string; done: boolean }[] = []
  const loose: string[] = []
  let isInItem = false
  let isForeign = false
  for (const row of text.split('\n')) {
    // A section of the person's own goes with all that is under it.
    if (/^##?[ \t]/.test(row)) isForeign = true
    const match = isForeign
      ? null
      : /^\s*(?:[-*+]|\d+[.)])\s+(?:\[([ xX])\](?:\s+|$))?(.*)$/.exec(row)
    if (match !== null) {
      isInItem = line(match[2]) !== ''
      if (isInItem) checklist.push({ item: line(match[2]), done: match[1]?.toLowerCase() === 'x' })
    } else if (isInItem && !isForeign && /^\s+\S/.test(row)) {
      const last = checklist.at(-1)
      if (last !== undefined) last.item = `${last.item} ${line(row)}`
    } else {
      isInItem = false
      loose.push(row)
    }
  }
  return { checklist, loose: passage(loose.join('\n')) }
}

function looseDependencies(text: string): string {
  return passage(
    text
      .split('\n')
      .filter((row) => !isDependencyLine(row))
      .join('\n'),
  )
}

function list(value: unknown): readonly string[] {
  const items = Array.isArray(value) ? value.map(line) : line(value).split(',').map(line)
  return [...new Set(items.filter((item) => item !== ''))]
}
