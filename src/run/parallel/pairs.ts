// Which kinds of work on one thing go side by side, and which one after the other. Pure.
import { type Specialist, proposeSpecialist } from '../../backlog/specialist.ts'
import type { Task } from '../../backlog/task.ts'

/** How two tasks go: the first of them before the second, the other way round, or at once. */
export interface Pair {
  readonly how: 'together' | 'first before second' | 'second before first'
  readonly because: string
}

type Kind = 'research' | 'architect' | 'code' | 'documentation' | 'tests' | 'reviewer'

/** Whoever mends or builds changes code too. */
const KIND_OF: Readonly<Record<Specialist, Kind>> = {
  architect: 'architect',
  code: 'code',
  debugger: 'code',
  devops: 'code',
  reviewer: 'reviewer',
  documentation: 'documentation',
  research: 'research',
  tests: 'tests',
}

/** What comes before what. Everything else goes together: code with its documentation and its tests, a design with research. */
const BEFORE: readonly (readonly [Kind, Kind])[] = [
  ['research', 'code'],
  ['code', 'reviewer'],
]

/**
 * How two tasks of one piece of work go; undefined when they have nothing to do with each other. What one says it depends
 * on is not looked at here: that holds in any case.
 */
export function pairOf(first: Task, second: Task): Pair | undefined {
  if (isSaid(first.group) && first.group === second.group)
    return { how: 'together', because: `both are in the group ${first.group}` }
  if (!areOfOnePiece(first, second)) return undefined
  const [one, other] = [kindOf(first), kindOf(second)]
  for (const [earlier, later] of BEFORE) {
    const because = `${earlier} comes before ${later === 'reviewer' ? 'its review' : later}`
    if (one === earlier && other === later) return { how: 'first before second', because }
    if (other === earlier && one === later) return { how: 'second before first', because }
  }
  return {
    how: 'together',
    because: one === other ? `both are ${one}` : `${one} goes together with ${other}`,
  }
}

/** Each task is compared with all the others, and its words say the same every time. */
const known = new WeakMap<Task, Kind>()

function kindOf(task: Task): Kind {
  const kind = known.get(task) ?? KIND_OF[proposeSpecialist(task).specialist]
  known.set(task, kind)
  return kind
}

function areOfOnePiece(a: Task, b: Task): boolean {
  if (isSaid(a.parent) && a.parent === b.parent) return true
  return a.labels.some((label) => /^epic\b/i.test(label) && b.labels.includes(label))
}

function isSaid(value: string | undefined): value is string {
  return value !== undefined && value !== ''
}
