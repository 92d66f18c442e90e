// A Markdown checklist. A task is identified by its text and not by its line: by an id `{#id}` at its end, else by its text as a
// name, prefixed with the names of its parent items.
import { readQuickForm } from '../../backlog/specialist.ts'
import { groupBy, shortnameFor } from '../../backlog/task.ts'
import type { TaskStatus } from '../../session/entries.ts'
import { oneLine, shorten, slug } from '../../text/clean.ts'
import {
  ID_RULE,
  findCycleProblems,
  isExternalId,
  lineNumbers,
  shortHash,
} from './external-tasks.ts'
import { type Checkbox, indentOf, lineKinds, parseCheckbox } from './markdown.ts'

type Redact = (text: string) => string

export function tickItem(text: string, own: string, hide: Redact): string | undefined {
  const [only, ...others] = parseChecklist(text, hide).items.filter(({ task }) => task.own === own)
  if (only === undefined || others.length > 0) return undefined
  const lines = text.split('\n')
  const line = lines[only.line - 1]!
  const { at } = only.box
  // A box that is already ticked stays as written.
  if (line[at] !== ' ') return text
  return lines.with(only.line - 1, `${line.slice(0, at)}x${line.slice(at + 1)}`).join('\n')
}

/** Every item with a checkbox and a text. `hide` redacts secrets, which must not become part of a name. */
export function parseChecklist(text: string, hide: Redact = (given) => given) {
  const problems: string[] = []
  const drafts = readItems(text.split('\n').map((line) => line.trimEnd()))
  const forms = drafts.map((draft) => ({ draft, form: readForm(draft.box.text) }))
  const owns = new Map<ItemDraft, string>()
  for (const { draft, form } of forms) {
    if (form.id !== undefined && !isExternalId(form.id))
      problems.push(`line ${draft.line}: the id ${shorten(oneLine(form.id), 60)}; ${ID_RULE}`)
    const above = draft.parent === undefined ? '' : `${owns.get(draft.parent)}/`
    owns.set(draft, form.id ?? `${above}${itemName(hide(form.title))}`)
  }
  problems.push(...numberDuplicates(drafts, owns))
  const all = [...new Set(owns.values())]
  const items = forms.map(({ draft, form }) => {
    const { box, description, heading, line, parent } = draft
    const own = owns.get(draft)!
    const dependsOn = form.dependsOn.flatMap((name) => {
      const found = findTasks(all, name)
      if (found.length === 1) return found
      const problem =
        found.length === 0 ? 'which is not in the file' : `which may be any of ${found.join(', ')}`
      problems.push(`line ${line}: it depends on ${shorten(name, 60)}, ${problem}`)
      return []
    })
    const { id: _id, dependsOn: _names, labels, ...fields } = form
    const task = {
      ...fields,
      own,
      name: own.split('/').at(-1)!,
      description,
      labels: [...new Set([...(heading === undefined ? [] : [heading]), ...labels])],
      dependsOn,
      ...(parent === undefined ? {} : { parent: owns.get(parent)! }),
      ...(box.isTicked ? { status: 'completed' as TaskStatus } : {}),
    }
    return { task, line, box }
  })
  const tasks = items.map(({ task }) => task)
  const lineOf = new Map(items.map(({ task, line }) => [task.own, line]))
  return {
    items,
    tasks,
    problems: problems.length === 0 ? findCycleProblems(tasks, lineOf) : problems,
  }
}

interface ItemDraft {
  readonly box: Checkbox
  readonly line: number
  readonly parent: ItemDraft | undefined
  readonly heading: string | undefined
  description: string
}

const HEADING = /^\uFEFF? {0,3}(#{1,6})\s+(.*?)(?:\s+#+)?$/

function readItems(lines: readonly string[]): readonly ItemDraft[] {
  const kinds = lineKinds(lines)
  const headings = lines.map((line, index) => (kinds[index] === 'text' ? HEADING.exec(line) : null))
  // A single level-one heading is the file's title and labels no item.
  const hasTitle = headings.filter((heading) => heading?.[1] === '#').length === 1
  const drafts: (ItemDraft & { readonly under: string[] })[] = []
  let open: typeof drafts = []
  let heading: string | undefined
  for (const [index, line] of lines.entries()) {
    const box = kinds[index] === 'text' ? parseCheckbox(line) : undefined
    if (box !== undefined) {
      open = open.filter((one) => box.indent >= one.box.indent + 2)
      if (box.text === '') continue
      const parent = open.at(-1)
      const draft = { box, line: index + 1, parent, heading, description: '', under: [] }
      drafts.push(draft)
      open.push(draft)
    } else if (line === '') {
      open.at(-1)?.under.push('')
    } else if (kinds[index] !== 'comment') {
      open = open.filter((one) => indentOf(line) >= one.box.indent + 2)
      if (open.length > 0) open.at(-1)!.under.push(line)
      else if (headings[index] != null) heading = labelOf(headings[index], hasTitle)
    }
  }
  for (const draft of drafts) draft.description = dedent(draft.under)
  return drafts
}

function labelOf(heading: RegExpExecArray, hasTitle: boolean): string | undefined {
  const [, rank = '', text = ''] = heading
  return (hasTitle && rank === '#') || !/[\p{L}\p{N}]/u.test(text)
    ? undefined
    : shortnameFor(oneLine(text))
}

function dedent(lines: readonly string[]): string {
  const indents = lines.filter((line) => line !== '').map((line) => line.search(/[^ \t]/))
  const least = Math.min(...indents)
  return lines
    .map((line) => line.slice(least))
    .join('\n')
    .trim()
}

const EXPLICIT_ID = /\s\{#([^\s{}]*)\}$/

function readForm(text: string): ReturnType<typeof readQuickForm> & { readonly id?: string } {
  const behind = readQuickForm(text)
  const match = EXPLICIT_ID.exec(behind.title)
  if (match === null) return behind
  const before = readQuickForm(behind.title.slice(0, match.index))
  const dependsOn = [...new Set([...before.dependsOn, ...behind.dependsOn])]
  const labels = [...new Set([...before.labels, ...behind.labels])]
  return { ...before, ...behind, title: before.title, dependsOn, labels, id: match[1]! }
}

/** The text as a name, with a hash if the name loses information. */
function itemName(title: string): string {
  const name = shortnameFor(title)
  const saysAll = name === slug(title, Infinity) && !/(?=\p{L})\P{Script=Latin}/u.test(title)
  return saysAll ? name : `${name}-${shortHash(title)}`
}

/** Numbers ticked items that share a name, and reports open ones as problems. */
function numberDuplicates(
  drafts: readonly ItemDraft[],
  owns: Map<ItemDraft, string>,
): readonly string[] {
  return [...groupBy(drafts, (draft) => owns.get(draft)!)].flatMap(([own, same]) => {
    if (same.length === 1) return []
    if (same.every((draft) => draft.box.isTicked)) {
      for (const [index, draft] of same.entries())
        if (index > 0) owns.set(draft, `${own}~${index + 1}`)
      return []
    }
    const lines = lineNumbers(same.map(({ line }) => line))
    const advice = `give one of them an id of its own at its end, such as {#${own.split('/').at(-1)}-2}`
    return [`${lines}: the same name ${own}; ${advice}`]
  })
}

function findTasks(all: readonly string[], name: string): readonly string[] {
  if (all.includes(name)) return [name]
  const ends = [name, itemName(name)]
  return all.filter((own) => ends.some((end) => own === end || own.endsWith(`/${end}`)))
}
