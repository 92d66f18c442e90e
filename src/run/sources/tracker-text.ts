// What trackers have in common: labels that say a size or a priority, and lists of boxes in a text.
import type { ChecklistItem } from '../../session/entries.ts'
import { type Priority, type Size, readPriority, readSize } from '../../backlog/task.ts'
import { boxOf, lineKinds } from './markdown.ts'
import { defined } from '../../text/defined.ts'

export interface ReadLabels {
  /** Those that say nothing else. */
  readonly labels: readonly string[]
  readonly priority?: Priority
  readonly size?: Size
}

const SAYS = /^(size|priority|prio)\s*[:/=]\s*(\S+)$/i

/** `size:S` and `size/S` are a size; `priority:P1`, `priority: high` and `P1` are a priority. */
export function readLabels(labels: readonly string[]): ReadLabels {
  const found = labels.map((label) => {
    const [, about = '', word = ''] = SAYS.exec(label.trim()) ?? []
    if (about.toLowerCase() === 'size') return { label, size: readSize(word) }
    if (about !== '')
      return { label, priority: readPriority(word) ?? numberedPriority(Number(word)) }
    return { label, priority: /^P[0-3]$/i.test(label.trim()) ? readPriority(label) : undefined }
  })
  const size = found.find((one) => one.size !== undefined)?.size
  const priority = found.find((one) => one.priority !== undefined)?.priority
  return {
    labels: found
      .filter((one) => one.size === undefined && one.priority === undefined)
      .map(({ label }) => label),
    ...defined({ priority, size }),
  }
}

/** Trackers count from 0, the most urgent, to 4 for what is put off. */
export function numberedPriority(number: unknown): Priority | undefined {
  return Number.isInteger(number) && Number(number) >= 0
    ? readPriority(`P${Math.min(Number(number), 3)}`)
    : undefined
}

export interface BoxLists {
  readonly checklist: readonly ChecklistItem[]
  /** The text without the lines that became items. */
  readonly rest: string
}

/** Takes the items of lists with boxes out of a text, but for those that `isOther` calls something else. */
export function takeBoxes(
  text: string,
  isOther: (item: string) => boolean = () => false,
): BoxLists {
  const lines = text.split(/\r?\n/)
  const kinds = lineKinds(lines)
  const boxes = lines.map((line, index) => (kinds[index] === 'text' ? boxOf(line) : undefined))
  const taken = boxes.map((box) =>
    box === undefined || box.text.trim() === '' || isOther(box.text) ? undefined : box,
  )
  return {
    checklist: taken.flatMap((box) =>
      box === undefined ? [] : [{ item: box.text, done: box.isTicked }],
    ),
    rest: lines.filter((_line, index) => taken[index] === undefined).join('\n'),
  }
}

/** A text without its examples and comments. */
export function proseOf(text: string): string {
  const lines = text.split(/\r?\n/)
  const kinds = lineKinds(lines)
  return lines
    .map((line, index) =>
      kinds[index] === 'text' ? line.replaceAll(/`[^`]*`|<!--.*?-->/g, ' ') : '',
    )
    .join('\n')
}
