// Tasks drawn as trees: a line for each, below it what it waits for and who has it. Members of a parallel group that stand
// side by side are joined by a double line.
import { isTaskOpen, openBlocks, proposeSpecialist, waitingFor } from '../../core.ts'
import type { PartOf, Task, TaskGraph, TreeNode } from '../../library.ts'
import { plural } from './terminal/text.ts'
import { TASK_MARKS } from './task.ts'
import { type Paint, type Part, type Style, flow } from './terminal/paint.ts'
import { cutTo, widthOf } from './terminal/width.ts'

/** A delegate that has a task. */
export interface TaskDelegate {
  readonly id: string
  readonly name: string
  readonly status: string
  /** It is called running or merging, and nobody does that. */
  readonly isOrphaned: boolean
}

export interface TreeDrawing {
  readonly backlog: TaskGraph
  /** By the id of the task. */
  readonly delegates: ReadonlyMap<string, readonly TaskDelegate[]>
  /** Whether the items of its checklist are shown, and all names instead of the first few. */
  readonly isFull: (task: Task) => boolean
  /** Unbounded when absent. */
  readonly columns?: number
  readonly paint: Paint
}

/** The lines of the trees. None is wider than asked for. */
export function drawTaskTrees(trees: readonly TreeNode[], drawing: TreeDrawing): readonly string[] {
  return new Drawing(drawing).draw(trees)
}

/** What stands in front of a task: on its own line, and on those that follow. */
interface Rails {
  readonly own: string
  readonly below: string
}

const FEW = 4
/** Wider than any line, and still a number that can be reckoned with. */
const UNBOUNDED = 1_000_000
/** Less of a title says nothing. */
const SHORTEST_TITLE = 12

class Drawing {
  readonly #lines: string[] = []
  readonly #drawing: TreeDrawing
  readonly #columns: number
  readonly #members: ReadonlyMap<string, readonly Task[]>

  constructor(drawing: TreeDrawing) {
    this.#drawing = drawing
    this.#columns = drawing.columns ?? UNBOUNDED
    this.#members = groupsOf(drawing.backlog.tasks)
  }

  draw(trees: readonly TreeNode[]): readonly string[] {
    this.#siblings(trees, undefined)
    return this.#lines
  }

  /** `rails` is what stands in front of all of them; undefined at the top, where nothing joins them. */
  #siblings(nodes: readonly TreeNode[], rails: string | undefined): void {
    const blocks = blocksOf(nodes)
    blocks.forEach(({ group, nodes: members }, index) => {
      const here =
        rails === undefined
          ? { own: '', below: '' }
          : branch(rails, index === blocks.length - 1, '├─ ', '└─ ', '│  ')
      if (group === undefined) this.#task(members[0]!, here)
      else {
        this.#line(here.own, [{ text: this.#groupWords(group, members), style: 'bold' }])
        members.forEach((node, at) =>
          this.#task(
            node,
            branch(here.below, at === members.length - 1, '╠═ ', '╚═ ', '║  '),
            true,
          ),
        )
      }
    })
  }

  #task(node: TreeNode, rails: Rails, isJoined = false): void {
    const { task, parts } = node
    const { own, below } = rails
    const notes = this.#head(node, own)
    const inside = this.#narrowed(`${below}${parts.length > 0 ? '│  ' : '   '}`)
    const room = this.#columns - inside.length
    const more = [...notes, ...this.#relations(node, isJoined)].flatMap((part) =>
      brokenAtCommas(part, room),
    )
    const { paint, isFull } = this.#drawing
    for (const line of flow(more, room, paint)) this.#lines.push(paint(inside, 'dim') + line)
    if (isFull(task)) {
      for (const { item, done } of task.checklist) {
        this.#line(inside, [
          { text: `[${done ? 'x' : ' '}] ${item}`, ...(done ? { style: 'dim' as const } : {}) },
        ])
      }
    }
    this.#siblings(parts, below)
  }

  /** Draws the line of a task and answers what found no room on it. */
  #head({ task, progress }: TreeNode, rails: string): readonly Part[] {
    const start: Part[] = [
      { text: TASK_MARKS[task.status], ...styled(STATUS_STYLES[task.status]) },
      { text: ` ${task.shortname}`, style: isTaskOpen(task) ? 'bold' : 'dim' },
      { text: `  ${task.priority} ${task.size}`, style: 'dim' },
    ]
    const notes = headNotes(task, progress)
    const end = notes.flatMap(({ text, style }): readonly Part[] => [
      { text: `  ${text}`, ...styled(style) },
    ])
    const room = this.#columns - widthOf(rails) - widthOfAll(start) - 2
    const beside = room - widthOfAll(end)
    const isTogether = beside >= Math.min(SHORTEST_TITLE, widthOf(task.title))
    const title = cutTo(task.title, isTogether ? beside : room)
    this.#line(rails, [
      ...start,
      { text: title === '' ? '' : `  ${title}` },
      ...(isTogether ? end : []),
    ])
    return isTogether ? [] : notes
  }

  #relations({ task, partOf }: TreeNode, isJoined: boolean): readonly Part[] {
    const { backlog, delegates, isFull } = this.#drawing
    const nameOf = (id: string) => backlog.byId.get(id)?.shortname ?? `${id} (not in the backlog)`
    const listed = (ids: readonly string[]) => names(ids.map(nameOf), isFull(task))
    const waits = isTaskOpen(task)
      ? waitingFor(backlog, task).map(({ reference }) => reference)
      : []
    const blocked = isTaskOpen(task) ? openBlocks(backlog, task).map(({ id }) => id) : []
    const companions = task.group === undefined || isJoined ? [] : this.#companions(task)
    return [
      ...(partOf === undefined
        ? []
        : [
            { text: partOfWords(partOf, nameOf(partOf.parent)), style: PART_OF_STYLES[partOf.why] },
          ]),
      ...(waits.length === 0
        ? []
        : [{ text: `waits for ${listed(waits)}`, style: 'yellow' as const }]),
      ...(blocked.length === 0
        ? []
        : [{ text: `blocks ${listed(blocked)}`, style: 'dim' as const }]),
      ...(task.group === undefined || isJoined
        ? []
        : [
            {
              text: `∥ ${task.group}${companions.length === 0 ? '' : ` with ${listed(companions)}`}`,
            },
          ]),
      ...(delegates.get(task.id) ?? []).map(delegatePart),
    ]
  }

  #companions({ id, group = '' }: Task): readonly string[] {
    return (this.#members.get(group) ?? [])
      .filter((other) => other.id !== id)
      .map((other) => other.id)
  }

  #groupWords(group: string, here: readonly TreeNode[]): string {
    const members = this.#members.get(group) ?? []
    const done = members.filter((task) => !isTaskOpen(task)).length
    const shown = new Set(here.map(({ task }) => task.id))
    const elsewhere = members.filter((task) => isTaskOpen(task) && !shown.has(task.id)).length
    const more = elsewhere === 0 ? '' : `, ${elsewhere} elsewhere`
    return `∥ ${group}: at the same time, ${done} of ${members.length} done${more}`
  }

  /** On a terminal where the rails leave no room for words, the words go before them. Each of their signs is one column wide. */
  #narrowed(rails: string): string {
    return rails.slice(0, Math.max(0, this.#columns - SHORTEST_TITLE))
  }

  /** A line of these parts. What does not fit is cut. */
  #line(rails: string, parts: readonly Part[]): void {
    const { paint } = this.#drawing
    const front = this.#narrowed(rails)
    let line = paint(front, 'dim')
    let room = this.#columns - front.length
    for (const { text, style } of parts) {
      const cut = cutTo(text, room)
      line += paint(cut, style)
      room -= widthOf(cut)
      if (cut !== text) break
    }
    this.#lines.push(line.trimEnd())
  }
}

interface Block {
  /** Of members that are joined. */
  readonly group?: string
  readonly nodes: readonly TreeNode[]
}

/** Siblings of one group stand together, where the first of them stood. */
function blocksOf(nodes: readonly TreeNode[]): readonly Block[] {
  const groups = new Map<string, TreeNode[]>()
  for (const node of nodes) {
    // What is a part of something else is only seemingly a sibling.
    if (node.task.group === undefined || node.partOf !== undefined) continue
    const members = groups.get(node.task.group)
    if (members === undefined) groups.set(node.task.group, [node])
    else members.push(node)
  }
  return nodes.flatMap((node): readonly Block[] => {
    const { group } = node.task
    const members =
      group === undefined || node.partOf !== undefined ? [] : (groups.get(group) ?? [])
    if (group === undefined || members.length < 2) return [{ nodes: [node] }]
    return members[0] === node ? [{ group, nodes: members }] : []
  })
}

function branch(rails: string, isLast: boolean, more: string, last: string, on: string): Rails {
  return { own: `${rails}${isLast ? last : more}`, below: `${rails}${isLast ? '   ' : on}` }
}

/** The tasks of each parallel group. */
export function groupsOf(tasks: readonly Task[]): ReadonlyMap<string, readonly Task[]> {
  const groups = new Map<string, Task[]>()
  for (const task of tasks) {
    if (task.group === undefined) continue
    const members = groups.get(task.group)
    if (members === undefined) groups.set(task.group, [task])
    else members.push(task)
  }
  return groups
}

function headNotes(task: Task, { done, total }: TreeNode['progress']): readonly Part[] {
  const ticked = task.checklist.filter((item) => item.done).length
  return [
    ...(task.checklist.length === 0 ? [] : [{ text: `[${ticked}/${task.checklist.length}]` }]),
    ...(total === 0
      ? []
      : [
          {
            text: `${done} of ${plural(total, 'part')} done`,
            style: done === total ? ('green' as const) : ('cyan' as const),
          },
        ]),
    ...(task.labels.length === 0
      ? []
      : [{ text: task.labels.map((label) => `#${label}`).join(' '), style: 'dim' as const }]),
    ...specialistParts(task),
    ...(task.status === 'ready'
      ? []
      : [{ text: `(${task.status})`, ...styled(STATUS_STYLES[task.status]) }]),
  ]
}

/** Who was said to do it, or who should. Of what is completed nobody has to say it any more. */
function specialistParts(task: Task): readonly Part[] {
  if (task.assignee !== undefined) return [{ text: `→ ${task.assignee}` }]
  return isTaskOpen(task)
    ? [{ text: `→ ${proposeSpecialist(task).specialist} (proposed)`, style: 'dim' }]
    : []
}

function delegatePart({ name, status, isOrphaned }: TaskDelegate): Part {
  const style = isOrphaned ? 'red' : DELEGATE_STYLES[status]
  return {
    text: `delegate ${name}: ${status}${isOrphaned ? ', but nobody is at it' : ''}`,
    ...styled(style),
  }
}

function partOfWords({ why }: PartOf, name: string): string {
  return why === 'circle' ? `part of ${name}, which stands under it` : `part of ${name}`
}

function names(all: readonly string[], isFull: boolean): string {
  if (isFull || all.length <= FEW + 1) return all.join(', ')
  return `${all.slice(0, FEW).join(', ')} and ${all.length - FEW} more`
}

/** A list of names that is too long for a line, as one part for each line. */
function brokenAtCommas({ text, style }: Part, columns: number): readonly Part[] {
  if (widthOf(text) <= columns) return [{ text, ...styled(style) }]
  const lines: string[] = []
  for (const word of text.split(/(?<=,) /)) {
    const longer = `${lines.at(-1) ?? ''} ${word}`
    if (lines.length > 0 && widthOf(longer) <= columns) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines.map((line) => ({ text: line, ...styled(style) }))
}

function styled(style: Style | undefined): { style?: Style } {
  return style === undefined ? {} : { style }
}

function widthOfAll(parts: readonly Part[]): number {
  return parts.reduce((sum, { text }) => sum + widthOf(text), 0)
}

const STATUS_STYLES: Readonly<Record<Task['status'], Style | undefined>> = {
  ready: undefined,
  in_progress: 'cyan',
  blocked: 'yellow',
  completed: 'green',
  failed: 'red',
}

const PART_OF_STYLES: Readonly<Record<PartOf['why'], Style>> = {
  unknown: 'red',
  circle: 'red',
  deep: 'dim',
  outside: 'dim',
}

const DELEGATE_STYLES: Readonly<Record<string, Style>> = {
  running: 'cyan',
  merging: 'cyan',
  ready: 'green',
  merged: 'green',
  conflicted: 'red',
  failed: 'red',
  parked: 'red',
}
