// Draws tasks as trees: a line for each, with its relations below. A double line joins siblings of a parallel group.
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
  /** By task id. */
  readonly delegates: ReadonlyMap<string, readonly TaskDelegate[]>
  /** Whether all checklist items and all names are shown. */
  readonly isFull: (task: Task) => boolean
  /** Unbounded when absent. */
  readonly columns?: number
  readonly paint: Paint
}

/** The line prefix of a task: on its own line, and on the following ones. */
interface LinePrefix {
  readonly own: string
  readonly below: string
}

const MAX_NAMES = 4
const NO_LIMIT = 1_000_000
/** A shorter title says nothing. */
const MIN_TITLE_WIDTH = 12

/** No line is wider than `columns`. */
export function drawTaskTrees(
  trees: readonly TreeNode[],
  drawing: TaskTreeOptions,
): readonly string[] {
  const { backlog, delegates, isFull, columns = NO_LIMIT, paint } = drawing
  const groups = tasksByGroup(backlog.tasks)
  const lines: string[] = []

  /** `rails` is the common prefix; undefined at the top level. */
  function drawSiblings(nodes: readonly TreeNode[], rails: string | undefined) {
    const blocks = groupSiblings(nodes)
    for (const [index, { group, nodes: members }] of blocks.entries()) {
      const isLast = index === blocks.length - 1
      const prefix =
        rails === undefined
          ? { own: '', below: '' }
          : branchPrefix(rails, isLast, ['├─ ', '└─ ', '│  '])
      if (group === undefined) drawTask(members[0]!, prefix, false)
      else {
        drawLine(prefix.own, [{ text: groupTitle(group, members), style: 'bold' }])
        for (const [at, node] of members.entries()) {
          const isLastMember = at === members.length - 1
          drawTask(node, branchPrefix(prefix.below, isLastMember, ['╠═ ', '╚═ ', '║  ']), true)
        }
      }
    }
  }

  function drawTask(node: TreeNode, { own, below }: LinePrefix, isJoined: boolean) {
    const { task, parts } = node
    const notes = drawHead(node, own)
    const indentation = shortenRails(`${below}${parts.length > 0 ? '│  ' : '   '}`)
    const room = columns - indentation.length
    const continuation = [...notes, ...relations(node, isJoined)].flatMap((part) =>
      breakAtCommas(part, room),
    )
    for (const line of wrapParts(continuation, room, paint))
      lines.push(paint(indentation, 'dim') + line)
    for (const { item, done } of isFull(task) ? task.checklist : [])
      drawLine(indentation, [
        { text: `[${done ? 'x' : ' '}] ${item}`, style: done ? 'dim' : undefined },
      ])
    drawSiblings(parts, below)
  }

  /** Draws the line of a task and returns the notes that did not fit. */
  function drawHead({ task, progress }: TreeNode, rails: string) {
    const start: readonly StyledText[] = [
      { text: TASK_MARKS[task.status], style: STATUS_STYLES[task.status] },
      { text: ` ${task.shortname}`, style: isTaskOpen(task) ? 'bold' : 'dim' },
      { text: `  ${task.priority} ${task.size}`, style: 'dim' },
    ]
    const notes = taskNotes(task, progress)
    const end = notes.map(({ text, style }): StyledText => ({ text: `  ${text}`, style }))
    const room = columns - displayWidth(rails) - totalWidth(start) - 2
    const titleRoom = room - totalWidth(end)
    const fitsOnLine = titleRoom >= Math.min(MIN_TITLE_WIDTH, displayWidth(task.title))
    const title = truncate(task.title, fitsOnLine ? titleRoom : room)
    const middle = { text: title === '' ? '' : `  ${title}` }
    drawLine(rails, [...start, middle, ...(fitsOnLine ? end : [])])
    return fitsOnLine ? [] : notes
  }

  function relations({ task, partOf }: TreeNode, isJoined: boolean): readonly StyledText[] {
    const nameOf = (id: string) => backlog.byId.get(id)?.shortname ?? `${id} (not in the backlog)`
    const listNames = (before: string, ids: readonly string[]) => {
      const names = ids.map(nameOf)
      if (ids.length === 0) return ''
      return isFull(task) || names.length <= MAX_NAMES + 1
        ? `${before} ${names.join(', ')}`
        : `${before} ${names.slice(0, MAX_NAMES).join(', ')} and ${names.length - MAX_NAMES} more`
    }
    const isOpen = isTaskOpen(task)
    const waits = isOpen ? unmetDependencies(backlog, task).map(({ reference }) => reference) : []
    const blocked = isOpen ? openDependents(backlog, task).map(({ id }) => id) : []
    const { group } = task
    const groupMembers = (groups.get(group ?? '') ?? []).filter(({ id }) => id !== task.id)
    const withOthers = listNames(
      ' with',
      groupMembers.map(({ id }) => id),
    )
    return [
      {
        text:
          partOf === undefined
            ? ''
            : `part of ${nameOf(partOf.parent)}${partOf.why === 'circle' ? ', which stands under it' : ''}`,
        style: partOf?.why === 'deep' || partOf?.why === 'outside' ? 'dim' : 'red',
      },
      { text: listNames('waits for', waits), style: 'yellow' },
      { text: listNames('blocks', blocked), style: 'dim' },
      { text: group === undefined || isJoined ? '' : `∥ ${group}${withOthers}` },
      ...(delegates.get(task.id) ?? []).map(delegateNote),
    ]
  }

  function groupTitle(group: string, siblings: readonly TreeNode[]) {
    const members = groups.get(group) ?? []
    const open = members.filter(isTaskOpen)
    const shown = new Set(siblings.map(({ task }) => task.id))
    const elsewhere = open.filter(({ id }) => !shown.has(id)).length
    const elsewhereText = elsewhere === 0 ? '' : `, ${elsewhere} elsewhere`
    return `∥ ${group}: at the same time, ${members.length - open.length} of ${members.length} done${elsewhereText}`
  }

  /** Shortens the rails where they leave no room for text. Each of their characters is one column wide. */
  function shortenRails(rails: string) {
    return rails.slice(0, Math.max(0, columns - MIN_TITLE_WIDTH))
  }

  function drawLine(rails: string, parts: readonly StyledText[]) {
    const front = shortenRails(rails)
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

interface SiblingGroup {
  readonly group?: string
  readonly nodes: readonly TreeNode[]
}

/** Groups siblings of one parallel group at the position of the first. */
function groupSiblings(nodes: readonly TreeNode[]): readonly SiblingGroup[] {
  // A node with `partOf` belongs elsewhere and is no real sibling.
  const groups = groupBy(nodes, ({ task, partOf }) =>
    partOf === undefined ? task.group : undefined,
  )
  return nodes.flatMap((node): readonly SiblingGroup[] => {
    const { group } = node.task
    const members = group === undefined ? [] : (groups.get(group) ?? [])
    if (group === undefined || node.partOf !== undefined || members.length < 2)
      return [{ nodes: [node] }]
    return members[0] === node ? [{ group, nodes: members }] : []
  })
}

function branchPrefix(
  rails: string,
  isLast: boolean,
  [middle, last, below]: readonly [string, string, string],
) {
  return { own: `${rails}${isLast ? last : middle}`, below: `${rails}${isLast ? '   ' : below}` }
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

function taskNotes(task: Task, { done, total }: TreeNode['progress']) {
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

function delegateNote({ name, status, isOrphaned }: TaskDelegate) {
  return {
    text: `delegate ${name}: ${status}${isOrphaned ? ', but nobody is at it' : ''}`,
    style: isOrphaned ? 'red' : DELEGATE_STYLES[status],
  }
}

/** Breaks a list of names into one part per line. */
function breakAtCommas({ text, style }: StyledText, columns: number) {
  if (displayWidth(text) <= columns) return [{ text, style }]
  const lines: string[] = []
  for (const word of text.split(/(?<=,) /)) {
    const longer = `${lines.at(-1) ?? ''} ${word}`
    if (lines.length > 0 && displayWidth(longer) <= columns) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines.map((line) => ({ text: line, style }))
}

function totalWidth(parts: readonly StyledText[]) {
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
