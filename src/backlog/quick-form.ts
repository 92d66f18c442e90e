// A title may end in any number of these, in any order:
//
//   (depends: [t1, t2])   tasks that must be completed first, by id or shortname
//   (parallel: group1)    tasks of one group may be worked on at the same time
//   → code agent          who should do it; also `-> code`
//   #label                a label; `#12` is an issue's number and stays
//   P1                    priority, P0 to P3
//   !S                    size, !XS to !XL
//
// Only the end of the title is looked at, and nothing is taken that would leave it empty:
// "teach #tags to sort" and "a -> b renames" are titles like any other.
import { line } from './canonical.ts'
import { readSpecialist } from './specialist.ts'
import { type Priority, type Size, readPriority, readSize } from './task.ts'

export interface QuickForm {
  readonly title: string
  readonly dependsOn: readonly string[]
  readonly labels: readonly string[]
  readonly group?: string
  readonly assignee?: string
  readonly priority?: Priority
  readonly size?: Size
}

type Found = { -readonly [K in keyof QuickForm]: QuickForm[K] }

interface Form {
  readonly pattern: RegExp
  /** Answers false when this is not the form after all, or was already given. */
  readonly take: (found: Found, match: RegExpExecArray) => boolean
}

const FORMS: readonly Form[] = [
  {
    pattern: /\s\(depends(?: on)?:\s*(?:\[([^\][()]*)\]|([^\][()]*))\)$/i,
    take: (found, match) => {
      const names = (match[1] ?? match[2] ?? '').split(',').map(line)
      found.dependsOn = [...new Set([...names.filter((name) => name !== ''), ...found.dependsOn])]
      return true
    },
  },
  {
    pattern: /\s\(parallel:\s*([^()]+)\)$/i,
    take: (found, match) => setOnce(found, 'group', line(match[1])),
  },
  {
    // Without "agent" the word must be a specialist's name, or "-> see docs" would lose its end.
    pattern: /\s(?:→|->)\s*([\p{L}][\p{L}\p{N}_-]*)(\s+agent)?$/iu,
    take: (found, match) => {
      const name = match[1] ?? ''
      const specialist = readSpecialist(name)
      if (specialist === undefined && match[2] === undefined) return false
      return setOnce(found, 'assignee', specialist ?? name)
    },
  },
  {
    pattern: /\s#(\p{L}[\p{L}\p{N}_/-]*)$/u,
    take: (found, match) => {
      found.labels = [...new Set([match[1]!, ...found.labels])]
      return true
    },
  },
  {
    pattern: /\s(P[0-3])$/,
    take: (found, match) => setOnce(found, 'priority', readPriority(match[1])),
  },
  {
    pattern: /\s!(XS|S|M|L|XL)$/,
    take: (found, match) => setOnce(found, 'size', readSize(match[1])),
  },
]

/** Takes the short forms off the end of a title. */
export function readQuickForm(text: string): QuickForm {
  const found: Found = { title: line(text), dependsOn: [], labels: [] }
  while (FORMS.some((form) => takeForm(found, form))) {
    // Each turn takes one form off the end.
  }
  return found
}

function takeForm(found: Found, { pattern, take }: Form): boolean {
  const match = pattern.exec(found.title)
  // The pattern begins with a space, and a title has none in front: something is left of it.
  if (match === null || !take(found, match)) return false
  found.title = found.title.slice(0, match.index)
  return true
}

function setOnce<K extends 'group' | 'assignee' | 'priority' | 'size'>(
  found: Found,
  key: K,
  value: Found[K],
): boolean {
  if (found[key] !== undefined || value === undefined || value === '') return false
  found[key] = value
  return true
}
