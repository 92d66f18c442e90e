import {
  type Task,
  joinPassages,
  cleanLine,
  cleanPassage,
  readPriority,
  readSize,
  readStatus,
} from './task.ts'
import {
  SECTIONS,
  type SectionName,
  isDependencyLine,
  readFrontmatter,
  unescapeLines,
  withoutMarker,
} from './task-file-format.ts'

/** An absent key is undefined where that means "as before", and empty where it means "none". */
export type TaskFileContent = Partial<
  Pick<Task, 'id' | 'shortname' | 'title' | 'priority' | 'size' | 'status' | 'createdAt'>
> &
  Required<Pick<Task, 'assignee' | 'parent' | 'group' | 'verify'>> &
  Pick<Task, 'labels' | 'dependsOn' | 'blocks' | 'description' | 'details' | 'checklist' | 'extra'>

/** Reads a task file, ours or made by hand or by another tool. Never throws. */
export async function parseTaskFile(fileText: string) {
  const text = withoutMarker(fileText)
  if (text.trim() === '') return unreadable('it is empty')
  if (/^(?:<{7}|>{7})(?:\s|$)/m.test(text)) return unreadable('it has conflict markers')
  if (text.includes('\0')) return unreadable('it is not text')
  const found = /^\s*---[ \t]*\n(?:([\s\S]*?)\n)?---[ \t]*(?:\n|$)/.exec(text)
  if (found === null && /^---\s*$/m.test(text.trimStart().split('\n', 1)[0] ?? ''))
    return unreadable('its head has no end')
  const frontmatter = await readFrontmatter(found?.[1] ?? '')
  if (!frontmatter.readable) return unreadable(`its head is not YAML: ${frontmatter.reason}`)
  const { values, extra } = frontmatter
  const remarks: string[] = []
  const valueOf = (key: string) => cleanLine(values.get(key))
  const understood = <T>(key: string, choices: string, read: (value: unknown) => T | undefined) => {
    const written = valueOf(key)
    const value = read(written)
    if (value === undefined && written !== '')
      remarks.push(`${key}: ${written} is not one of ${choices}`)
    return value
  }
  const sectionOf = splitSections(found === null ? text : text.slice(found[0].length))
  const title = titleOf(valueOf('title'), sectionOf(''), found !== null)
  const criteria = readCriteria(sectionOf('Acceptance Criteria'))
  const dependencies = sectionOf('Dependencies').split('\n')
  const loose = dependencies.filter((row) => !isDependencyLine(row)).join('\n')
  const written = Object.entries({
    id: valueOf('id'),
    shortname: valueOf('shortname'),
    title: title.title,
    createdAt: valueOf('created_at'),
    priority: understood('priority', 'P0, P1, P2, P3', readPriority),
    size: understood('size', 'XS, S, M, L, XL', readSize),
    status: understood('status', 'ready, in_progress, blocked, completed, failed', readStatus),
  })
  const content: TaskFileContent = {
    ...Object.fromEntries(written.filter(([, value]) => value)),
    labels: list(values.get('tags')),
    dependsOn: list(values.get('blocked_by')),
    blocks: list(values.get('blocks')),
    assignee: valueOf('assignee'),
    parent: valueOf('parent'),
    group: valueOf('group'),
    verify: cleanPassage(values.get('verify')),
    description: joinPassages(title.rest, unescapeLines(sectionOf('Description'))),
    details: joinPassages(unescapeLines(sectionOf('Technical Details')), criteria.loose, loose),
    checklist: criteria.checklist,
    extra,
  }
  return { readable: true as const, content, remarks }
}

function unreadable(reason: string) {
  return { readable: false as const, reason }
}

const HEADING = /^##[ \t]+(.*?)[ \t#]*$/

/** The text under each of our headings, and the text above them under `''`. Any other heading belongs to its section. */
function splitSections(body: string): (name: SectionName | '') => string {
  const texts = new Map<SectionName | '', string[]>()
  let current: SectionName | '' = ''
  for (const text of body.split('\n')) {
    const heading = HEADING.exec(text)?.[1]?.toLowerCase()
    const own = SECTIONS.find((name) => name.toLowerCase() === heading)
    current = own ?? current
    const lines = texts.get(current) ?? []
    texts.set(current, lines)
    // The blank line separates the paragraphs of a section that occurs twice.
    lines.push(own === undefined ? text : '')
  }
  return (name) => (texts.get(name) ?? []).join('\n')
}

function titleOf(written: string, preamble: string, hasHead: boolean) {
  const text = cleanPassage(preamble)
  const [first = '', ...others] = text.split('\n')
  const heading = /^#[ \t]+(.+?)[ \t#]*$/.exec(first)?.[1]
  const named = cleanLine(heading ?? (hasHead ? '' : first.replace(/^[#>*\s-]+/, '')))
  if (written === '' && named !== '') return { title: named, rest: others.join('\n') }
  // Many tools repeat the title as a heading.
  const isRepeated = heading !== undefined && cleanLine(heading) === written
  return { title: written, rest: isRepeated ? others.join('\n') : text }
}

function readCriteria(text: string) {
  const checklist: { item: string; done: boolean }[] = []
  const loose: string[] = []
  let isInItem = false
  let isForeign = false
  for (const row of text.split('\n')) {
    // A section that a person added includes everything below it.
    if (/^##?[ \t]/.test(row)) isForeign = true
    const match = isForeign
      ? null
      : /^\s*(?:[-*+]|\d+[.)])\s+(?:\[([ xX])\](?:\s+|$))?(.*)$/.exec(row)
    if (match !== null) {
      const item = cleanLine(match[2])
      isInItem = item !== ''
      if (isInItem) checklist.push({ item, done: match[1]?.toLowerCase() === 'x' })
    } else if (isInItem && !isForeign && /^\s+\S/.test(row)) {
      const last = checklist.at(-1)!
      last.item = `${last.item} ${cleanLine(row)}`
    } else {
      isInItem = false
      loose.push(row)
    }
  }
  return { checklist, loose: cleanPassage(loose.join('\n')) }
}

function list(value: unknown) {
  const items = Array.isArray(value)
    ? value.map(cleanLine)
    : cleanLine(value).split(',').map(cleanLine)
  return [...new Set(items.filter((item) => item !== ''))]
}
