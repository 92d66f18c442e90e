// What can be said of a task on the command line, alike when it is added and when it is changed.
import { PRIORITIES, SIZES } from '../../core.ts'
import { Misuse } from './errors.ts'
import { list, taskName, text, texts } from './flags.ts'
import { defined } from '../../text/defined.ts'

export interface TaskFlags {
  readonly description?: string
  readonly parent?: string
  readonly depends?: readonly string[]
  readonly checklist?: readonly string[]
  readonly assign?: string
  readonly group?: string
  readonly priority?: string
  readonly size?: string
  readonly label?: readonly string[]
  readonly verify?: string
}

export const taskFlags = {
  description: text('More about it'),
  parent: taskName('The task it is a part of'),
  depends: {
    ...list('Tasks that must be done before'),
    proposeCompletions: taskName('').proposeCompletions,
  },
  checklist: texts('An item to tick off', 'ITEM'),
  assign: text(
    'Who is to do it: architect, code, debugger, reviewer, documentation, research, devops, tests',
    'AGENT',
  ),
  group: text('Tasks of one group may be done at the same time', 'GROUP'),
  priority: text('P0 (highest) to P3', 'P0-P3'),
  size: text('XS, S, M, L or XL', 'SIZE'),
  label: list('Labels', 'LABEL'),
  verify: text('A command that shows it is done', 'COMMAND'),
} as const

/** The fields that hold one value each. */
export function singleFields({
  description,
  parent,
  group,
  verify,
  assign,
  priority,
  size,
}: TaskFlags) {
  return defined({
    description,
    parent,
    group,
    verify,
    assignee: assign,
    priority: oneOf('priority', priority, PRIORITIES),
    size: oneOf('size', size, SIZES),
  })
}

/** The one of these words that was meant, in whatever case it was written. */
export function oneOf<T extends string>(
  name: string,
  value: string | undefined,
  allowed: readonly T[],
): T | undefined {
  if (value === undefined) return undefined
  const found = allowed.find((candidate) => candidate.toLowerCase() === value.toLowerCase())
  if (found === undefined)
    throw new Misuse(`"${value}" is no ${name}`, `there are ${allowed.join(', ')}`)
  return found
}
