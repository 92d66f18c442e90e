import { withoutSecrets } from '../../project/store/clean-draft.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import {
  type BacklogSource,
  type ForeignTask,
  ID_RULE,
  circles,
  fingerprint,
  grouped,
  isOwnId,
  named,
  readForeign,
  refuse,
} from './foreign.ts'
import { type SourceFile, notThere } from './source-file.ts'
import type { TaskStatus } from '../../session/entries.ts'
import { shortnameFor } from '../../backlog/task.ts'
import { readQuickForm } from '../../backlog/specialist.ts'
import { oneLine, shorten, slug } from '../../text/clean.ts'
import { type Box, boxOf, indentOf, lineKinds } from './markdown.ts'

/** Tasks of a Markdown file, one for each `- [ ] text`. */
export function checklistSource(workspace: Workspace, file: SourceFile): BacklogSource {
  const parse = (text: string) =>
    parseChecklist(text, (given) => withoutSecrets(given, workspace.config))
  return {
    name: file.key,
    read: async () => {
      const { items, problems } = parse(file.read())
      refuse(file.key, problems)
      if (items.length === 0)
        workspace.say(`${file.key} has no line of the form "- [ ] what is to be done"`)
      return readForeign(
        workspace,
        file.key,
        items.map(({ task }) => task),
      )
    },
    settle: async (task, _summary, tree) =>
      file.edit(tree, (text) => {
        const own = task.id.slice(file.key.length + 1)
        const [only, ...others] = parse(text).items.filter((item) => item.task.own === own)
        if (only !== undefined && others.length === 0) return ticked(text, only.line, only.box.at)
        workspace.say(notThere(file, task.shortname))
        return undefined
      }),
  }
}

function ticked(text: string, number: number, at: number): string {
  const lines = text.split('\n')
  const line = lines[number - 1]!
  // An x of either case stays as it was written.
  if (line[at] !== ' ') return text
  return lines.with(number - 1, `${line.slice(0, at)}x${line.slice(at + 1)}`).join('\n')
}

// A Markdown checklist. A task is known by its words: an explicit id `{#id}` at the end of the line, else what the text comes
// to as a name, behind those of the items it stands under. Nothing of that depends on which line it stands on.

export interface ChecklistItemLine {
  readonly task: ForeignTask
  /** From 1. */
  readonly line: number
  readonly box: Box
}

export interface Checklist {
  readonly items: readonly ChecklistItemLine[]
  readonly problems: readonly string[]
}

/** Every item with a box and a text. `hide` takes out what must not become a part of a name. */
export function parseChecklist(
  text: string,
  hide: (text: string) => string = (given) => given,
): Checklist {
  const problems: string[] = []
  const drafts = readItems(text.split('\n').map((line) => line.trimEnd()))
  const named = drafts.map((draft) => ({ draft, form: readForm(draft.box.text) }))
  const owns = new Map<Draft, string>()
  for (const { draft, form } of named) {
    if (form.id !== undefined && !isOwnId(form.id)) {
      problems.push(`line ${draft.line}: the id ${shorten(oneLine(form.id), 60)}; ${ID_RULE}`)
    }
    const above = draft.parent === undefined ? '' : `${owns.get(draft.parent)}/`
    owns.set(draft, form.id ?? `${above}${nameOf(hide(form.title))}`)
  }
  problems.push(...shareNames(drafts, owns))
  const find = finder(drafts, owns)
  const items = named.map(({ draft, form }): ChecklistItemLine => {
    const own = owns.get(draft)!
    const dependsOn = form.dependsOn.flatMap((name) => {
      const found = find(name)
      if (found.length === 1) return found
      const problem =
        found.length === 0 ? 'which is not in the file' : `which may be any of ${found.join(', ')}`
      problems.push(`line ${draft.line}: it depends on ${shorten(name, 60)}, ${problem}`)
      return []
    })
    const { id: _id, dependsOn: _names, labels, ...said } = form
    const task = {
      ...said,
      own,
      name: own.split('/').at(-1)!,
      description: draft.description,
      labels: [...new Set([...(draft.heading === undefined ? [] : [draft.heading]), ...labels])],
      dependsOn,
      ...(draft.parent === undefined ? {} : { parent: owns.get(draft.parent)! }),
      ...(draft.box.isTicked ? { status: 'completed' as TaskStatus } : {}),
    }
    return { task, line: draft.line, box: draft.box }
  })
  const lineOf = new Map(items.map(({ task, line }) => [task.own, line]))
  const all = items.map(({ task }) => task)
  return { items, problems: [...problems, ...(problems.length === 0 ? circles(all, lineOf) : [])] }
}

interface Draft {
  readonly box: Box
  readonly line: number
  readonly parent: Draft | undefined
  readonly heading: string | undefined
  readonly description: string
}

const HEADING = /^\uFEFF? {0,3}(#{1,6})\s+(.*?)(?:\s+#+)?$/

function readItems(lines: readonly string[]): readonly Draft[] {
  const kinds = lineKinds(lines)
  const headings = lines.map((line, index) => (kinds[index] === 'text' ? HEADING.exec(line) : null))
  // A single heading of the first rank is the title of the file and says nothing of any item.
  const hasTitle = headings.filter((heading) => heading?.[1] === '#').length === 1
  const drafts: (Draft & { readonly under: string[] })[] = []
  let open: typeof drafts = []
  let heading: string | undefined
  for (const [index, line] of lines.entries()) {
    const box = kinds[index] === 'text' ? boxOf(line) : undefined
    const indent = indentOf(line)
    if (box !== undefined) {
      open = open.filter((one) => box.indent >= one.box.indent + 2)
      if (box.text === '') continue
      const draft = {
        box,
        line: index + 1,
        parent: open.at(-1),
        heading,
        description: '',
        under: [],
      }
      drafts.push(draft)
      open.push(draft)
    } else if (line === '') {
      open.at(-1)?.under.push('')
    } else if (kinds[index] !== 'comment') {
      open = open.filter((one) => indent >= one.box.indent + 2)
      if (open.length > 0) open.at(-1)!.under.push(line)
      else if (headings[index] != null) heading = labelOf(headings[index], hasTitle)
    }
  }
  // Parents are told apart by what they are, so the description is filled in where they stand.
  return drafts.map((draft) => Object.assign(draft, { description: outdented(draft.under) }))
}

function labelOf(heading: RegExpExecArray, hasTitle: boolean): string | undefined {
  const [, rank = '', text = ''] = heading
  return (hasTitle && rank === '#') || !/[\p{L}\p{N}]/u.test(text)
    ? undefined
    : shortnameFor(oneLine(text))
}

function outdented(lines: readonly string[]): string {
  const least = Math.min(
    ...lines.filter((line) => line !== '').map((line) => /^[ \t]*/.exec(line)![0].length),
  )
  return lines
    .map((line) => line.slice(least))
    .join('\n')
    .trim()
}

type Form = ReturnType<typeof readQuickForm> & { readonly id?: string }

const EXPLICIT_ID = /\s\{#([^\s{}]*)\}$/

/** The short forms and the id at the end of a line, in any order. */
function readForm(text: string): Form {
  const behind = readQuickForm(text)
  const match = EXPLICIT_ID.exec(behind.title)
  if (match === null) return behind
  const before = readQuickForm(behind.title.slice(0, match.index))
  const dependsOn = [...new Set([...before.dependsOn, ...behind.dependsOn])]
  const labels = [...new Set([...before.labels, ...behind.labels])]
  return { ...before, ...behind, title: before.title, dependsOn, labels, id: match[1]! }
}

/** What a text comes to as a name. Where the name says less than the text, a sum of the text makes up for it. */
function nameOf(title: string): string {
  const name = shortnameFor(title)
  const saysAll = name === slug(title, Infinity) && !/(?=\p{L})\P{Script=Latin}/u.test(title)
  return saysAll ? name : `${name}-${fingerprint(title)}`
}

/** Gives ticked items of one name numbers, which nobody will miss, and reports open ones. */
function shareNames(drafts: readonly Draft[], owns: Map<Draft, string>): readonly string[] {
  const problems: string[] = []
  for (const [own, same] of grouped(drafts, (draft) => owns.get(draft)!)) {
    if (same.length === 1) continue
    if (same.every((draft) => draft.box.isTicked)) {
      for (const [index, draft] of same.entries())
        if (index > 0) owns.set(draft, `${own}~${index + 1}`)
    } else {
      const lines = named(same.map(({ line }) => line))
      const advice = `give one of them an id of its own at its end, such as {#${own.split('/').at(-1)}-2}`
      problems.push(`${lines}: the same name ${own}; ${advice}`)
    }
  }
  return problems
}

/** Looks a task up by its id, by the end of it, or by its text. */
function finder(
  drafts: readonly Draft[],
  owns: ReadonlyMap<Draft, string>,
): (name: string) => readonly string[] {
  const all = [...new Set(drafts.map((draft) => owns.get(draft)!))]
  return (name) => {
    if (all.includes(name)) return [name]
    return all.filter((own) =>
      [name, nameOf(name)].some((end) => own === end || own.endsWith(`/${end}`)),
    )
  }
}
