import type { Workspace } from '../../project/store/workspace.ts'
import {
  PRIORITIES,
  SIZES,
  isRecord,
  readPriority,
  readSize,
  readStatus,
} from '../../backlog/task.ts'
import {
  type BacklogSource,
  type ForeignTask,
  ID_RULE,
  LONGEST_PASSAGE,
  LONGEST_TITLE,
  circles,
  grouped,
  isOwnId,
  named,
  readForeign,
  refuse,
} from './foreign.ts'
import { type SourceFile, notThere } from './source-file.ts'
import type { ChecklistItem, TaskStatus } from '../../session/entries.ts'
import { oneLine, shorten } from '../../text/clean.ts'

/** Tasks of a file with one JSON object a line. */
export function jsonlSource(workspace: Workspace, file: SourceFile): BacklogSource {
  return {
    name: file.key,
    read: async () => {
      const { tasks, problems } = parseJsonl(file.read())
      refuse(file.key, problems)
      return readForeign(workspace, file.key, tasks)
    },
    settle: async (task, _summary, tree) =>
      file.edit(tree, (text) => {
        const marked = markDone(text, task.id.slice(file.key.length + 1))
        if (marked === undefined) workspace.say(notThere(file, task.shortname))
        return marked
      }),
  }
}

/** The file with one task done, or undefined when no single line is that task's. */
function markDone(text: string, own: string): string | undefined {
  const lines = text.split('\n')
  const found = lines.flatMap((line, index) => {
    const object = readJsonLine(line)
    return typeof object === 'object' && ownIdOf(object) === own ? [{ index, line, object }] : []
  })
  const [only, ...others] = found
  if (only === undefined || others.length > 0) return undefined
  if (readStatus(only.object['status']) === 'completed') return text
  return lines.with(only.index, withStatusDone(only.line)).join('\n')
}

// One JSON object a line. What is not understood is said, never guessed: a dependency that was misspelt and ignored would
// have its task begun too early.

export interface Plan {
  readonly tasks: readonly ForeignTask[]
  /** Each in one line, with the number of its line. */
  readonly problems: readonly string[]
}

/** The tasks of a JSONL file, and everything that is wrong with it. */
export function parseJsonl(text: string): Plan {
  const problems: string[] = []
  const found: { readonly task: ForeignTask; readonly number: number }[] = []
  for (const [index, line] of text.split('\n').entries()) {
    const number = index + 1
    const read = readJsonLine(line)
    if (read === undefined) continue
    if (typeof read === 'string') problems.push(`line ${number}: ${read}`)
    else {
      const fields = new Fields(read)
      const task = taskOf(fields)
      problems.push(...fields.problems.map((problem) => `line ${number}: ${problem}`))
      if (task !== undefined) found.push({ task, number })
    }
  }
  const tasks = found.map(({ task }) => task)
  const numbers = grouped(found, ({ task }) => task.own)
  for (const [own, same] of numbers) {
    if (same.length > 1)
      problems.push(`${named(same.map(({ number }) => number))}: the same id ${own}`)
  }
  for (const { task, number } of found) {
    for (const own of task.dependsOn) {
      if (!numbers.has(own))
        problems.push(`line ${number}: depends_on names ${own}, which is not in the file`)
    }
    const { parent } = task
    if (parent !== undefined && !numbers.has(parent))
      problems.push(`line ${number}: parent names ${parent}, which is not in the file`)
  }
  const lineOf = new Map([...numbers].map(([own, same]) => [own, same[0]!.number]))
  return {
    tasks,
    problems: [...problems, ...(problems.length === 0 ? circles(tasks, lineOf) : [])],
  }
}

/** The object on a line, what is wrong with it, or undefined for a blank one. */
export function readJsonLine(line: string): Readonly<Record<string, unknown>> | string | undefined {
  const json = line.replace(/^\uFEFF/, '').trim()
  if (json === '') return undefined
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch (error) {
    return `not JSON (${shorten(oneLine((error as Error).message), 120)})`
  }
  return isRecord(value) ? value : 'not an object; each line is one task, {"id": …, "title": …}'
}

/** The id that an object gives itself. */
export function ownIdOf(object: Readonly<Record<string, unknown>>): string | undefined {
  return idText(object['id'])
}

function taskOf(fields: Fields): ForeignTask | undefined {
  fields.refuseMisspelt()
  const own = fields.id('id', true)
  const title = fields.text('title', LONGEST_TITLE, true)
  const task = {
    description: fields.text('description', LONGEST_PASSAGE),
    priority: fields.priority(),
    size: fields.size(),
    labels: fields.texts('labels'),
    verify: fields.text('verify', LONGEST_PASSAGE),
    status: fields.status(),
    parent: fields.id('parent'),
    checklist: fields.checklist(),
    group: fields.text('group', LONGEST_TITLE),
    assignee: fields.text('assignee', LONGEST_TITLE),
  }
  const dependsOn = fields.ids('depends_on')
  if (own === undefined || title === undefined || fields.problems.length > 0) return undefined
  const given = Object.fromEntries(Object.entries(task).filter(([, value]) => value !== undefined))
  return { own, name: own, title, dependsOn, ...given }
}

const NAMES = [
  'id',
  'title',
  'description',
  'depends_on',
  'priority',
  'size',
  'labels',
  'verify',
] as const
const MORE_NAMES = ['status', 'parent', 'checklist', 'group', 'assignee'] as const
const ALL_NAMES: readonly string[] = [...NAMES, ...MORE_NAMES]

/** Reads one object's fields and gathers what is wrong with them. */
class Fields {
  readonly problems: string[] = []
  readonly #object: Readonly<Record<string, unknown>>

  constructor(object: Readonly<Record<string, unknown>>) {
    this.#object = object
  }

  /** Fields of other programs are theirs; one that is nearly ours was meant for us. */
  refuseMisspelt(): void {
    for (const key of Object.keys(this.#object)) {
      const meant = ALL_NAMES.find((name) => plain(name) === plain(key))
      if (meant !== undefined && meant !== key && !Object.hasOwn(this.#object, meant))
        this.#wrong(shown(key), `write "${meant}"`)
    }
  }

  id(name: string, isNeeded = false): string | undefined {
    const value = this.#value(name)
    const id = idText(value)
    if (id !== undefined && isOwnId(id)) return id
    if (value !== undefined) this.#wrong(`"${name}" is ${shown(value)}`, ID_RULE)
    else if (isNeeded) this.#wrong(`no "${name}"`)
    return undefined
  }

  ids(name: string): readonly string[] {
    const value = this.#value(name) ?? []
    const ids = Array.isArray(value) ? value.map(idText) : [undefined]
    if (ids.every((id) => id !== undefined)) return [...new Set(ids)]
    this.#wrong(`"${name}" is ${shown(value)}`, 'a list of ids, ["t1", "t2"]')
    return []
  }

  text(name: string, longest: number, isNeeded = false): string | undefined {
    const value = this.#value(name)
    if (typeof value === 'string' && value.trim() !== '') {
      // A command that was cut is another command, so nothing is cut here.
      if (value.length > longest)
        this.#wrong(`"${name}" is ${value.length} characters long`, `at most ${longest}`)
      return value
    }
    if (value !== undefined && typeof value !== 'string')
      this.#wrong(`"${name}" is ${shown(value)}`, 'a text')
    else if (isNeeded) this.#wrong(`no "${name}"`)
    return undefined
  }

  texts(name: string): readonly string[] | undefined {
    const value = this.#value(name)
    if (
      value === undefined ||
      (Array.isArray(value) && value.every((one) => typeof one === 'string'))
    )
      return value
    this.#wrong(`"${name}" is ${shown(value)}`, 'a list of texts')
    return undefined
  }

  checklist(): readonly ChecklistItem[] | undefined {
    const value = this.#value('checklist')
    if (value === undefined) return undefined
    const items = Array.isArray(value) ? value.map(itemOf) : [undefined]
    if (items.every((item) => item !== undefined)) return items
    this.#wrong(
      `"checklist" is ${shown(value)}`,
      'a list of texts, or of {"item": …, "done": true}',
    )
    return undefined
  }

  priority(): string | undefined {
    return this.#word(
      'priority',
      (value) => (typeof value === 'number' ? PRIORITIES[value] : readPriority(value)),
      PRIORITIES,
    )
  }

  size(): string | undefined {
    return this.#word('size', readSize, SIZES)
  }

  status(): TaskStatus | undefined {
    return this.#word('status', readStatus, ['ready', 'in_progress', 'blocked', 'done', 'failed'])
  }

  #word<T>(
    name: string,
    read: (value: unknown) => T | undefined,
    words: readonly string[],
  ): T | undefined {
    const value = this.#value(name)
    const word = value === undefined ? undefined : read(value)
    if (value !== undefined && word === undefined)
      this.#wrong(`"${name}" is ${shown(value)}`, words.join(', '))
    return word
  }

  #value(name: string): unknown {
    const value = Object.hasOwn(this.#object, name) ? this.#object[name] : undefined
    return value === null ? undefined : value
  }

  #wrong(what: string, right?: string): void {
    this.problems.push(right === undefined ? what : `${what}; ${right}`)
  }
}

function idText(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  return Number.isSafeInteger(value) ? String(value) : undefined
}

function itemOf(value: unknown): ChecklistItem | undefined {
  if (typeof value === 'string') return { item: value, done: false }
  return isRecord(value) && typeof value['item'] === 'string'
    ? { item: value['item'], done: value['done'] === true }
    : undefined
}

/** `dependsOn`, `depends-on` and `label` are spellings of ours. */
function plain(key: string): string {
  return key
    .toLowerCase()
    .replaceAll(/[\s_-]/g, '')
    .replace(/s$/, '')
}

function shown(value: unknown): string {
  return shorten(oneLine(JSON.stringify(value)), 60)
}

// Sets one field of an object in its own text, so that everything else on the line stays byte for byte.

interface Value {
  readonly key: string
  readonly start: number
  readonly end: number
}

/** The line of a task, saying that it is done. The line must hold one JSON object with at least one field. */
export function withStatusDone(line: string): string {
  const values = valuesOf(line)
  // Of a key given twice the last one counts.
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

/** Where the values of the outermost object stand. */
function valuesOf(line: string): readonly Value[] {
  const values: Value[] = []
  let at = line.indexOf('{') + 1
  for (;;) {
    at = after(BETWEEN, line, at)
    if (line[at] !== '"') return values
    const keyEnd = after(STRING, line, at)
    const key = JSON.parse(line.slice(at, keyEnd)) as string
    const start = after(BETWEEN, line, keyEnd)
    at = endOfValue(line, start)
    values.push({ key, start, end: at })
  }
}

function endOfValue(line: string, start: number): number {
  let at = start
  let depth = 0
  do {
    const character = line[at]
    if (character === '"') at = after(STRING, line, at)
    else if (character === '{' || character === '[') {
      depth += 1
      at += 1
    } else if (character === '}' || character === ']') {
      depth -= 1
      at += 1
    } else at = after(LITERAL, line, at)
    if (depth > 0) at = after(BETWEEN, line, at)
  } while (depth > 0)
  return at
}

function after(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return at + (pattern.exec(text)?.[0].length ?? 0)
}
