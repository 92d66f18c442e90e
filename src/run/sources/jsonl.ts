// One JSON object per line. Anything not understood is an error: a misspelt dependency would start its task too early.
import {
  PRIORITIES,
  SIZES,
  groupBy,
  isRecord,
  readPriority,
  readSize,
  readStatus,
} from '../../backlog/task.ts'
import { oneLine, shorten } from '../../text/clean.ts'
import { defined } from '../../text/defined.ts'
import {
  type ExternalTask,
  ID_RULE,
  LONGEST_PASSAGE,
  LONGEST_TITLE,
  findCycleProblems,
  isExternalId,
  lineNumbers,
} from './external-tasks.ts'

type Json = Readonly<Record<string, unknown>>

export function markDone(text: string, own: string): string | undefined {
  const lines = text.split('\n')
  const found = lines.flatMap((line, index) => {
    const object = readJsonLine(line)
    return typeof object === 'object' && idString(object['id']) === own ? [{ index, object }] : []
  })
  const [only, ...others] = found
  if (only === undefined || others.length > 0) return undefined
  if (readStatus(only.object['status']) === 'completed') return text
  return lines.with(only.index, withStatusDone(lines[only.index]!)).join('\n')
}

export function parseJsonl(text: string): {
  readonly tasks: readonly ExternalTask[]
  readonly problems: readonly string[]
} {
  const problems: string[] = []
  const found: { readonly task: ExternalTask; readonly number: number }[] = []
  for (const [index, line] of text.split('\n').entries()) {
    const number = index + 1
    const read = readJsonLine(line)
    const wrong = typeof read === 'string' ? [read] : []
    const task = typeof read === 'object' ? parseTask(read, wrong) : undefined
    problems.push(...wrong.map((problem) => `line ${number}: ${problem}`))
    if (task !== undefined) found.push({ task, number })
  }
  const byId = groupBy(found, ({ task }) => task.own)
  for (const [own, same] of byId) {
    if (same.length > 1)
      problems.push(`${lineNumbers(same.map(({ number }) => number))}: the same id ${own}`)
  }
  for (const { task, number } of found) {
    const missing = (field: string, own: string) =>
      byId.has(own) ? [] : [`line ${number}: ${field} names ${own}, which is not in the file`]
    problems.push(...task.dependsOn.flatMap((own) => missing('depends_on', own)))
    if (task.parent !== undefined) problems.push(...missing('parent', task.parent))
  }
  const tasks = found.map(({ task }) => task)
  const lineOf = new Map([...byId].map(([own, same]) => [own, same[0]!.number]))
  return { tasks, problems: problems.length === 0 ? findCycleProblems(tasks, lineOf) : problems }
}

/** The object on a line, a string that describes the problem, or undefined for a blank line. */
function readJsonLine(line: string) {
  const json = line.replace(/^\uFEFF/, '').trim()
  if (json === '') return undefined
  try {
    const value: unknown = JSON.parse(json)
    return isRecord(value) ? value : 'not an object; each line is one task, {"id": …, "title": …}'
  } catch (error) {
    return `not JSON (${shorten(oneLine((error as Error).message), 120)})`
  }
}

const FIELD_NAMES =
  'id title description depends_on priority size labels verify status parent checklist group assignee'.split(
    ' ',
  )

/** Undefined if the object is invalid; the reasons are added to `problems`. */
function parseTask(object: Json, problems: string[]) {
  // Unknown fields belong to other programs, but one that is nearly ours is a typo.
  for (const key of Object.keys(object)) {
    const meant = FIELD_NAMES.find((name) => normalizeKey(name) === normalizeKey(key))
    if (meant !== undefined && meant !== key && !Object.hasOwn(object, meant))
      problems.push(`${preview(key)}; write "${meant}"`)
  }
  const read = <T>(name: string, right: string, reader: (value: unknown) => T | undefined) => {
    const value = Object.hasOwn(object, name) ? (object[name] ?? undefined) : undefined
    const found = value === undefined ? undefined : reader(value)
    if (value !== undefined && found === undefined)
      problems.push(`"${name}" is ${preview(value)}; ${right}`)
    return found
  }
  const list = <T>(name: string, right: string, itemOf: (value: unknown) => T | undefined) =>
    read(name, right, (value) => {
      const items = Array.isArray(value) ? value.map(itemOf) : [undefined]
      return items.every((item) => item !== undefined) ? items : undefined
    })
  const id = (name: string) =>
    read(name, ID_RULE, (value) => {
      const text = idString(value)
      return text !== undefined && isExternalId(text) ? text : undefined
    })
  const text = (name: string, longest: number) => {
    const found = read(name, 'a text', asString)
    if (found === undefined || found.trim() === '') return undefined
    // A truncated command is a different command, so nothing is cut here.
    if (found.length > longest)
      problems.push(`"${name}" is ${found.length} characters long; at most ${longest}`)
    return found
  }
  const needed = <T>(name: string, reader: (name: string) => T | undefined) => {
    const before = problems.length
    const found = reader(name)
    if (found === undefined && problems.length === before) problems.push(`no "${name}"`)
    return found
  }
  const own = needed('id', id)
  const title = needed('title', (name) => text(name, LONGEST_TITLE))
  const task = {
    description: text('description', LONGEST_PASSAGE),
    priority: read('priority', PRIORITIES.join(', '), (value) =>
      typeof value === 'number' ? PRIORITIES[value] : readPriority(value),
    ),
    size: read('size', SIZES.join(', '), readSize),
    labels: list('labels', 'a list of texts', asString),
    verify: text('verify', LONGEST_PASSAGE),
    status: read('status', 'ready, in_progress, blocked, done, failed', readStatus),
    parent: id('parent'),
    checklist: list('checklist', 'a list of texts, or of {"item": …, "done": true}', itemOf),
    group: text('group', LONGEST_TITLE),
    assignee: text('assignee', LONGEST_TITLE),
  }
  const waits = list('depends_on', 'a list of ids, ["t1", "t2"]', idString) ?? []
  if (own === undefined || title === undefined || problems.length > 0) return undefined
  return { own, name: own, title, dependsOn: [...new Set(waits)], ...defined(task) }
}

function asString(value: unknown) {
  return typeof value === 'string' ? value : undefined
}

function idString(value: unknown) {
  return Number.isSafeInteger(value) ? String(value) : asString(value)
}

function itemOf(value: unknown) {
  if (typeof value === 'string') return { item: value, done: false }
  return isRecord(value) && typeof value['item'] === 'string'
    ? { item: value['item'], done: value['done'] === true }
    : undefined
}

/** Recognizes other spellings such as `dependsOn`, `depends-on` and `label`. */
function normalizeKey(key: string) {
  return key
    .toLowerCase()
    .replaceAll(/[\s_-]/g, '')
    .replace(/s$/, '')
}

function preview(value: unknown) {
  return shorten(oneLine(JSON.stringify(value)), 60)
}

/** Edits the text of the object, so that the rest of the line stays byte for byte. */
export function withStatusDone(line: string): string {
  const values = locateValues(line)
  // Of a duplicate key the last one counts.
  const status = values.findLast(({ key }) => key === 'status')
  if (status !== undefined) return `${line.slice(0, status.start)}"done"${line.slice(status.end)}`
  const end = values.at(-1)!.end
  const field = /^\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s/.test(line.replace(/^\uFEFF/, ''))
    ? ', "status": "done"'
    : ',"status":"done"'
  return `${line.slice(0, end)}${field}${line.slice(end)}`
}

const STRING = /"(?:[^"\\]|\\.)*"/y
const LITERAL = /[^\s,}\]]+/y
const BETWEEN = /[\s,:]*/y

function locateValues(line: string) {
  const values: { key: string; start: number; end: number }[] = []
  let at = line.indexOf('{') + 1
  for (;;) {
    at = skip(BETWEEN, line, at)
    if (line[at] !== '"') return values
    const keyEnd = skip(STRING, line, at)
    const key = JSON.parse(line.slice(at, keyEnd)) as string
    const start = skip(BETWEEN, line, keyEnd)
    at = endOfValue(line, start)
    values.push({ key, start, end: at })
  }
}

function endOfValue(line: string, start: number) {
  let at = start
  let depth = 0
  do {
    const character = line[at]!
    if ('{['.includes(character)) depth += 1
    if ('}]'.includes(character)) depth -= 1
    if ('{[}]'.includes(character)) at += 1
    else at = skip(character === '"' ? STRING : LITERAL, line, at)
    if (depth > 0) at = skip(BETWEEN, line, at)
  } while (depth > 0)
  return at
}

function skip(pattern: RegExp, text: string, at: number) {
  pattern.lastIndex = at
  return at + (pattern.exec(text)?.[0].length ?? 0)
}
