import {
  type EntryDraft,
  type EntryData,
  type EntryKind,
  draftEntry,
} from '../../session/entries.ts'
import type { SessionState, Step } from '../../session/state.ts'
import { oneLine, shorten } from '../../text/clean.ts'
import { defined } from '../../text/defined.ts'
import { type Json, asName, asObject, asText } from '../../text/json-fields.ts'

export interface Todo {
  readonly text?: string
  readonly status?: Step['status'] | 'dropped'
  /** The harness's own id, when it refers to a todo without its text. */
  readonly key?: string
}

export interface TodoListChange {
  /** The complete list: a missing todo was removed. */
  readonly isFullList: boolean
  readonly todos: readonly Todo[]
}

const MAX_TODOS = 60
const MAX_TEXT_LENGTH = 300

export function readTodos(
  tool: string,
  input: Json,
  response: unknown,
): TodoListChange | undefined {
  return Object.hasOwn(TODO_TOOL_READERS, tool)
    ? TODO_TOOL_READERS[tool]!(input, response)
    : undefined
}

const TODO_TOOL_READERS: Readonly<
  Record<string, (input: Json, response: unknown) => TodoListChange | undefined>
> = {
  TodoWrite: (input) => {
    if (!Array.isArray(input.todos)) return undefined
    return {
      isFullList: true,
      todos: input.todos
        .slice(0, MAX_TODOS)
        .flatMap((todo) => parseTodo(asObject(todo), 'content')),
    }
  },
  TaskCreate: (input, response) => {
    const key =
      parseKey(asObject(asObject(response)?.task)?.id) ?? /#(\d+)/.exec(asText(response) ?? '')?.[1]
    const text = parseText(input.subject)
    return text === undefined
      ? undefined
      : { isFullList: false, todos: [{ text, ...defined({ key }) }] }
  },
  TaskUpdate: (input, response) => {
    const key = parseKey(input.taskId)
    if (key === undefined || asObject(response)?.success === false) return undefined
    return {
      isFullList: false,
      todos: [
        { key, ...defined({ text: parseText(input.subject), status: parseStatus(input.status) }) },
      ],
    }
  },
  // Other agents share the list, so a missing item was not necessarily removed.
  TaskList: (_, response) => {
    const tasks = asObject(response)?.tasks
    return Array.isArray(tasks)
      ? {
          isFullList: false,
          todos: tasks.slice(0, MAX_TODOS).flatMap((task) => parseTodo(asObject(task), 'subject')),
        }
      : undefined
  },
  ExitPlanMode: (input, response) => {
    const plan = asText(input.plan) ?? asText(asObject(response)?.plan)
    const items = plan === undefined ? [] : planItems(plan)
    const todos = items.map(({ text, isDone }) => ({
      text: shorten(text, MAX_TEXT_LENGTH),
      ...(isDone ? { status: 'done' as const } : {}),
    }))
    return todos.length === 0 ? undefined : { isFullList: false, todos }
  },
}

function parseTodo(fields: Json | undefined, name: string): readonly Todo[] {
  const text = parseText(fields?.[name])
  const status = parseStatus(fields?.status) ?? 'todo'
  return text === undefined || status === 'dropped'
    ? []
    : [{ text, status, ...defined({ key: parseKey(fields?.id) }) }]
}

function parseStatus(value: unknown) {
  if (value === 'in_progress') return 'started'
  if (value === 'completed') return 'done'
  if (value === 'deleted' || value === 'cancelled') return 'dropped'
  return value === 'pending' ? 'todo' : undefined
}

function parseText(value: unknown) {
  const text =
    typeof value === 'string' ? shorten(oneLine(value.slice(0, 10_000)), MAX_TEXT_LENGTH) : ''
  return text === '' ? undefined : text
}

function parseKey(value: unknown) {
  return asName(typeof value === 'number' ? String(value) : value, 64)
}

export function draftsForTodos(
  change: TodoListChange,
  state: SessionState,
  conversation: string,
  mint: () => string,
): readonly EntryDraft[] {
  return new StepReconciler(state, conversation, mint).reconcile(change)
}

class StepReconciler {
  readonly #drafts: EntryDraft[] = []
  readonly #matched = new Set<string>()

  constructor(
    readonly state: SessionState,
    readonly conversation: string,
    readonly mint: () => string,
  ) {}

  reconcile({ isFullList, todos }: TodoListChange): readonly EntryDraft[] {
    const steps = todos.map((todo) => this.#matchStep(todo))
    let before: string | undefined
    for (const [index, todo] of todos.entries()) {
      const step = steps[index]
      const hasStepAfter = isFullList && steps.slice(index).some((other) => other !== undefined)
      const id =
        step === undefined
          ? this.#add(todo, hasStepAfter ? (before ?? 'start') : undefined)
          : this.#updateStep(todo, step)
      before = id ?? before
    }
    if (isFullList)
      for (const step of this.state.steps.items) if (!this.#matched.has(step.id)) this.#drop(step)
    return this.#drafts
  }

  /** By the harness's key, or by text; two items never share a step. */
  #matchStep({ text, key }: Todo) {
    const free = this.state.steps.items.filter((step) => !this.#matched.has(step.id))
    const byKey = key === undefined ? undefined : free.find((step) => step.plan === this.#plan(key))
    const same = text === undefined ? [] : free.filter((step) => isSameText(step.text, text))
    const step =
      byKey ??
      same.find((other) => this.#isOwn(other)) ??
      same.find(({ status }) => status !== 'done') ??
      same[0]
    if (step !== undefined) this.#matched.add(step.id)
    return step
  }

  #add({ text, status, key }: Todo, after: string | undefined) {
    if (text === undefined || status === 'dropped') return undefined
    const { earlier } = this.state.steps
    // Only the end of a long session is loaded here; steps done long ago are missing.
    if (status === 'done' && earlier > 0) return undefined
    const position = after === undefined || (after === 'start' && earlier > 0) ? {} : { after }
    const id = this.#addDraft('step.added', { text, plan: this.#plan(key), ...position })
    if (status === 'started') this.#addDraft('step.started', { step: id })
    if (status === 'done') this.#addDraft('step.done', { step: id })
    return id
  }

  #updateStep({ text, status, key }: Todo, step: Step) {
    if (status === 'dropped') {
      this.#drop(step)
      return step.id
    }
    const isReworded = text !== undefined && !isSameText(step.text, text)
    if (isReworded && step.status !== 'done')
      return this.#reword(step, { text, status: status ?? step.status, ...defined({ key }) })
    if (status === 'done' && step.status !== 'done') this.#addDraft('step.done', { step: step.id })
    if (status === 'started' && step.status === 'done')
      this.#addDraft('step.reopened', { step: step.id })
    if (status === 'started' && step.status !== 'started')
      this.#addDraft('step.started', { step: step.id })
    // Another agent's step is not stopped just because it is in the list.
    if (status === 'todo' && step.status === 'started' && this.#isOwn(step))
      this.#addDraft('step.stopped', { step: step.id })
    return step.id
  }

  // A new entry in its place, since amending the old one would refold the journal.
  #reword(step: Step, todo: Todo) {
    const { items } = this.state.steps
    const index = items.indexOf(step)
    this.#drop(step)
    return this.#add(todo, index === 0 ? 'start' : items[index - 1]!.id) ?? step.id
  }

  /** Done steps stay, and so do those of the user or another conversation. */
  #drop(step: Step) {
    if (this.#isOwn(step) && step.status !== 'done')
      this.#addDraft('step.dropped', { step: step.id })
  }

  #isOwn({ plan }: Step) {
    return plan === this.conversation || (plan?.startsWith(`${this.conversation}#`) ?? false)
  }

  /** No conversation id contains `#`. */
  #plan(key?: string) {
    return key === undefined ? this.conversation : `${this.conversation}#${key}`
  }

  #addDraft<K extends EntryKind>(kind: K, data: EntryData[K]): string {
    const id = this.mint()
    this.#drafts.push(draftEntry(kind, data, { id, by: 'hook' }) as EntryDraft)
    return id
  }
}

// Journalled texts are redacted, so only the rest is compared.
const REDACTED = /\[redacted:[a-z-]+\]/

function isSameText(step: string, todo: string) {
  const [mine, theirs] = [normalized(step), normalized(todo)]
  if (mine === theirs || !REDACTED.test(mine)) return mine === theirs
  const parts = mine.split(REDACTED)
  const end = parts.pop() ?? ''
  let from = 0
  for (const [index, part] of parts.entries()) {
    const at = theirs.indexOf(part, from)
    if (at === -1 || (index === 0 && at !== 0)) return false
    from = at + part.length
  }
  return theirs.endsWith(end) && theirs.length - end.length > from
}

function normalized(text: string) {
  return oneLine(text).replace(/\s+/g, ' ').toLowerCase()
}

interface PlanItem {
  readonly text: string
  readonly isDone: boolean
}

const MAX_PLAN_ITEMS = 20

/**
 * Checkboxes, else numbers, else bullets, else headings; only the outermost level, so that
 * explanations do not become steps.
 */
function planItems(markdown: string): readonly PlanItem[] {
  const lines = withoutFences(markdown.split('\n').map((line) => line.slice(0, 500)))
  for (const { pattern, atLeast } of ITEM_PATTERNS) {
    const found = outermost(
      lines.map((line) => pattern.exec(line)?.groups).filter((groups) => groups !== undefined),
    )
    if (found.length >= atLeast) return found.slice(0, MAX_PLAN_ITEMS)
  }
  return []
}

const ITEM_PATTERNS: readonly { readonly pattern: RegExp; readonly atLeast: number }[] = [
  {
    pattern: /^(?<indent>\s*)(?:[-*+]|\d{1,3}[.)])\s+\[(?<box>[ xX])\]\s+(?<text>\S.*)$/,
    atLeast: 1,
  },
  {
    pattern:
      /^(?<indent>)#{1,6}\s+(?:(?:step|phase|task|part|stage)\s+)?\d{1,3}[.):]\s*(?<text>\S.*?)#*$/i,
    atLeast: 2,
  },
  { pattern: /^(?<indent>\s*)\d{1,3}[.)]\s+(?<text>\S.*)$/, atLeast: 2 },
  { pattern: /^(?<indent>\s*)[-*+]\s+(?<text>\S.*)$/, atLeast: 1 },
  { pattern: /^(?<indent>\s*)\d{1,3}[.)]\s+(?<text>\S.*)$/, atLeast: 1 },
  { pattern: /^(?<indent>)#{2,6}\s+(?<text>\S.*?)#*$/, atLeast: 1 },
  { pattern: /^(?<indent>)#\s+(?<text>\S.*?)#*$/, atLeast: 1 },
]

type MatchedLine = Readonly<Record<string, string | undefined>>

function outermost(found: readonly MatchedLine[]) {
  const depths = found.map(({ indent = '' }) => indent.replaceAll('\t', '    ').length)
  const outer = Math.min(...depths)
  return found
    .filter((_, index) => depths[index] === outer)
    .map(({ text = '', box = ' ' }) => ({ text: plainText(text), isDone: box !== ' ' }))
    .filter(({ text }) => text !== '')
}

function plainText(text: string) {
  return oneLine(text.replace(/\*\*|__/g, '')).replace(/\s*:$/, '')
}

function withoutFences(lines: readonly string[]) {
  let fence: string | undefined
  return lines.filter((line) => {
    const marker = /^\s*(`{3,}|~{3,})/.exec(line)?.[1]
    if (fence === undefined) {
      fence = marker
      return marker === undefined
    }
    if (marker !== undefined && marker.startsWith(fence)) fence = undefined
    return false
  })
}
