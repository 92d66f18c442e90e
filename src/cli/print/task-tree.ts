// Tasks drawn as trees: a line for each, below it its relations. Siblings of one parallel group are joined by a double line.
import { isTaskOpen, openDependents, proposeSpecialist, unmetDependencies } from '../../core.ts'
import type { Task, TaskGraph, TreeNode } from '../../library.ts'
import { TASK_MARKS } from './task.ts'
import {
  type Paint,
  type StyledText,
  type Style,
  truncate,
  wrapParts,
  displayWidth,
} from './terminal/layout.ts'
import { plural } from './terminal/text.ts'

export interface TaskDelegate {
  readonly id: string
  readonly name: string
  readonly status: string
  readonly isOrphaned: boolean
}

export interface TaskTreeOptions {
  readonly backlog: TaskGraph
  /** By the id of the task. */
  readonly delegates: ReadonlyMap<string, readonly TaskDelegate[]>
  /** Whether the items of its checklist are shown, and all names instead of the first few. */
  readonly isFull: (task: Task) => boolean
  /** Unbounded when absent. */
  readonly columns?: number
  readonly paint: Paint
}

/** What is in front of a task: on its own line, and on those that follow. */
interface Rails {
  readonly own: string
  readonly below: string
}

const FEW = 4
const UNBOUNDED = 1_000_000
/** Less of a title says nothing. */
const SHORTEST_TITLE = 12

/** The lines of the trees. None is wider than asked for. */
export function drawTaskTrees(
  trees: readonly TreeNode[],
  drawing: TaskTreeOptions,
): readonly string[] {
  const { backlog, delegates, isFull, columns = UNBOUNDED, paint } = drawing
  const groups = tasksByGroup(backlog.tasks)
  const lines: string[] = []

  /** `rails` is what is in front of all of them; undefined at the top, where nothing joins them. */
  function drawSiblings(nodes: readonly TreeNode[], rails: string | undefined) {
    const blocks = blocksOf(nodes)
    for (const [index, { group, nodes: members }] of blocks.entries()) {
      const isLast = index === blocks.length - 1
      const here =
        rails === undefined ? { own: '', below: '' } : branch(rails, isLast, ['├─ ', '└─ ', '│  '])
      if (group === undefined) drawTask(members[0]!, here, false)
      else {
        drawLine(here.own, [{ text: groupWords(group, members), style: 'bold' }])
        for (const [at, node] of members.entries()) {
          const isLastMember = at === members.length - 1
          drawTask(node, branch(here.below, isLastMember, ['╠═ ', '╚═ ', '║  ']), true)
        }
      }
    }
  }

  function drawTask(node: TreeNode, { own, below }: Rails, isJoined: boolean) {
    const { task, parts } = node
    const notes = drawHead(node, own)
    const inside = narrowed(`${below}${parts.length > 0 ? '│  ' : '   '}`)
    const room = columns - inside.length
    const more = [...notes, ...relations(node, isJoined)].flatMap((part) =>
      brokenAtCommas(part, room),
    )
    for (const line of wrapParts(more, room, paint)) lines.push(paint(inside, 'dim') + line)
    for (const { item, done } of isFull(task) ? task.checklist : [])
      drawLine(inside, [{ text: `[${done ? 'x' : ' '}] ${item}`, style: done ? 'dim' : undefined }])
    drawSiblings(parts, below)
  }

  /** Draws the line of a task and returns what found no room on it. */
  function drawHead({ task, progress }: TreeNode, rails: string) {
    const start: readonly StyledText[] = [
      { text: TASK_MARKS[task.status], style: STATUS_STYLES[task.status] },
      { text: ` ${task.shortname}`, style: isTaskOpen(task) ? 'bold' : 'dim' },
      { text: `  ${task.priority} ${task.size}`, style: 'dim' },
    ]
    const notes = headNotes(task, progress)
    const end = notes.map(({ text, style }): StyledText => ({ text: `  ${text}`, style }))
    const room = columns - displayWidth(rails) - widthOfAll(start) - 2
    const beside = room - widthOfAll(end)
    const isTogether = beside >= Math.min(SHORTEST_TITLE, displayWidth(task.title))
    const title = truncate(task.title, isTogether ? beside : room)
    const middle = { text: title === '' ? '' : `  ${title}` }
    drawLine(rails, [...start, middle, ...(isTogether ? end : [])])
    return isTogether ? [] : notes
  }

  function relations({ task, partOf }: TreeNode, isJoined: boolean): readonly StyledText[] {
    const nameOf = (id: string) => backlog.byId.get(id)?.shortname ?? `${id} (not in the backlog)`
    const listed = (before: string, ids: readonly string[]) => {
      const names = ids.map(nameOf)
      if (ids.length === 0) return ''
      return isFull(task) || names.length <= FEW + 1
        ? `${before} ${names.join(', ')}`
        : `${before} ${names.slice(0, FEW).join(', ')} and ${names.length - FEW} more`
    }
    const isOpen = isTaskOpen(task)
    const waits = isOpen ? unmetDependencies(backlog, task).map(({ reference }) => reference) : []
    const blocked = isOpen ? openDependents(backlog, task).map(({ id }) => id) : []
    const { group } = task
    const companions = (groups.get(group ?? '') ?? []).filter(({ id }) => id !== task.id)
    const withOthers = listed(
      ' with',
      companions.map(({ id }) => id),
    )
    return [
      {
        text:
          partOf === undefined
            ? ''
            : `part of ${nameOf(partOf.parent)}${partOf.why === 'circle' ? ', which stands under it' : ''}`,
        style: partOf?.why === 'deep' || partOf?.why === 'outside' ? 'dim' : 'red',
      },
      { text: listed('waits for', waits), style: 'yellow' },
      { text: listed('blocks', blocked), style: 'dim' },
      { text: group === undefined || isJoined ? '' : `∥ ${group}${withOthers}` },
      ...(delegates.get(task.id) ?? []).map(delegatePart),
    ]
  }

  function groupWords(group: string, here: readonly TreeNode[]) {
    const members = groups.get(group) ?? []
    const open = members.filter(isTaskOpen)
    const shown = new Set(here.map(({ task }) => task.id))
    const elsewhere = open.filter(({ id }) => !shown.has(id)).length
    const more = elsewhere === 0 ? '' : `, ${elsewhere} elsewhere`
    return `∥ ${group}: at the same time, ${members.length - open.length} of ${members.length} done${more}`
  }

  /** Where the rails leave no room for words, the words take it. Each sign of them is one column wide. */
  function narrowed(rails: string) {
    return rails.slice(0, Math.max(0, columns - SHORTEST_TITLE))
  }

  function drawLine(rails: string, parts: readonly StyledText[]) {
    const front = narrowed(rails)
    let line = paint(front, 'dim')
    let room = columns - front.length
    for (const { text, style } of parts) {
      const cut = truncate(text, room)
      line += paint(cut, style)
      room -= displayWidth(cut)
      if (cut !== text) break
    }
    lines.push(line.trimEnd())
  }

  drawSiblings(trees, undefined)
  return lines
}

interface Block {
  readonly group?: string
  readonly nodes: readonly TreeNode[]
}

/** Siblings of one group are together, at the place of the first of them. */
function blocksOf(nodes: readonly TreeNode[]): readonly Block[] {
  // A node with `partOf` is a part of something else, and only seemingly a sibling.
  const groups = groupBy(nodes, ({ task, partOf }) =>
    partOf === undefined ? task.group : undefined,
  )
  return nodes.flatMap((node): readonly Block[] => {
    const { group } = node.task
    const members = group === undefined ? [] : (groups.get(group) ?? [])
    if (group === undefined || node.partOf !== undefined || members.length < 2)
      return [{ nodes: [node] }]
    return members[0] === node ? [{ group, nodes: members }] : []
  })
}

function branch(
  rails: string,
  isLast: boolean,
  [more, last, on]: readonly [string, string, string],
) {
  return { own: `${rails}${isLast ? last : more}`, below: `${rails}${isLast ? '   ' : on}` }
}

export function tasksByGroup(tasks: readonly Task[]): ReadonlyMap<string, readonly Task[]> {
  return groupBy(tasks, ({ group }) => group)
}

function groupBy<T>(
  items: readonly T[],
  keyOf: (item: T) => string | undefined,
): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    if (key === undefined) continue
    const members = groups.get(key)
    if (members === undefined) groups.set(key, [item])
    else members.push(item)
  }
  return groups
}

function headNotes(task: Task, { done, total }: TreeNode['progress']) {
  const { checklist, labels, status, assignee } = task
  const ticked = checklist.filter((item) => item.done).length
  const proposed: readonly StyledText[] = isTaskOpen(task)
    ? [{ text: `→ ${proposeSpecialist(task).specialist} (proposed)`, style: 'dim' }]
    : []
  const notes: readonly StyledText[] = [
    { text: checklist.length === 0 ? '' : `[${ticked}/${checklist.length}]` },
    {
      text: total === 0 ? '' : `${done} of ${plural(total, 'part')} done`,
      style: done === total ? 'green' : 'cyan',
    },
    { text: labels.map((label) => `#${label}`).join(' '), style: 'dim' },
    ...(assignee === undefined ? proposed : [{ text: `→ ${assignee}` }]),
    { text: status === 'ready' ? '' : `(${status})`, style: STATUS_STYLES[status] },
  ]
  return notes.filter(({ text }) => text !== '')
}

function delegatePart({ name, status, isOrphaned }: TaskDelegate) {
  return {
    text: `delegate ${name}: ${status}${isOrphaned ? ', but nobody is at it' : ''}`,
    style: isOrphaned ? 'red' : DELEGATE_STYLES[status],
  }
}

/** A list of names that is too long for a line, as one part for each line. */
function brokenAtCommas({ text, style }: StyledText, columns: number) {
  if (displayWidth(text) <= columns) return [{ text, style }]
  const lines: string[] = []
  for (const word of text.split(/(?<=,) /)) {
    const longer = `${lines.at(-1) ?? ''} ${word}`
    if (lines.length > 0 && displayWidth(longer) <= columns) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines.map((line) => ({ text: line, style }))
}

function widthOfAll(parts: readonly StyledText[]) {
  return parts.reduce((sum, { text }) => sum + displayWidth(text), 0)
}

const STATUS_STYLES: Readonly<Record<Task['status'], Style | undefined>> = {
  ready: undefined,
  in_progress: 'cyan',
  blocked: 'yellow',
  completed: 'green',
  failed: 'red',
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
