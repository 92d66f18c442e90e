// How big a piece of work is and which side of a product it is on. The size decides how much a run records.
import { fileDomain } from '../../document/export/domain.ts'
import { COMPLEX_FROM, type Complexity } from '../../document/export/work.ts'
import { proposeSpecialist } from '../../backlog/specialist.ts'
import type { Task } from '../../backlog/task.ts'

interface Classed {
  readonly complexity: Complexity
  readonly reasons: readonly string[]
}

const MEDIUM_FROM = 3
const LONG_TEXT = 1200
const MOST_READ = 20_000

export function classOfRun(work: {
  readonly tasks: readonly Pick<Task, 'size'>[]
  readonly files?: number
}): Classed {
  const { tasks, files } = work
  const large = tasks.filter(({ size }) => size === 'L' || size === 'XL').length
  return greatest([
    [byCount(tasks.length), counted(tasks.length, 'task')],
    ...(files === undefined ? [] : [[byCount(files), counted(files, 'file')] as const]),
    // A few large tasks need no more records.
    ...(large === 0 ? [] : [['medium', `${large} of size L or XL`] as const]),
  ])
}

type Described = Pick<
  Task,
  'title' | 'description' | 'details' | 'labels' | 'assignee' | 'size' | 'checklist' | 'children'
>

export function classOfTask(task: Described): Classed {
  const parts = Math.max(task.checklist.length, task.children.length)
  const files = pathsIn(`${task.description}\n${task.details}`).length
  const length = task.description.length + task.details.length
  return greatest([
    // M is the default size.
    ...(task.size === 'M' ? [] : [[SIZES[task.size], `size ${task.size}`] as const]),
    [byCount(parts), counted(parts, 'part')],
    [byCount(files), `${counted(files, 'file')} named`],
    [length > LONG_TEXT ? 'medium' : 'simple', `${length} characters of description`],
  ])
}

const SIZES: Readonly<Record<Exclude<Task['size'], 'M'>, Complexity>> = {
  XS: 'simple',
  S: 'simple',
  L: 'complex',
  XL: 'complex',
}

export type TaskDomain = 'frontend' | 'backend' | 'fullstack' | 'devops' | 'debugging' | 'docs'

export function domainOfTask(task: Pick<Task, 'title' | 'description' | 'details' | 'labels'>): {
  readonly domain: TaskDomain
  readonly because: string
} {
  for (const label of task.labels) {
    const domain = LABELS.find(([, words]) => words.test(label))?.[0]
    if (domain !== undefined) return { domain, because: `label ${label}` }
  }
  const { specialist, because } = proposeSpecialist({
    title: task.title,
    description: '',
    labels: [],
  })
  const kind = KINDS[specialist]
  if (kind !== undefined) return { domain: kind, because }
  const text = `${task.title}\n${task.description}\n${task.details}`.slice(0, MOST_READ)
  // A path counts by its folders, not by its words.
  const prose = text.replaceAll(PATH, ' ')
  const sides = SIDES.flatMap(([domain, words]) => {
    const word = words.exec(prose)?.[0]
    return word === undefined ? [] : [{ domain, because: `it says "${word}"` }]
  })
  if (sides.length === 1) return sides[0]!
  if (sides.length > 1)
    return { domain: 'fullstack', because: sides.map((side) => side.because).join(' and ') }
  const paths = pathsIn(text)
  const domain = combined(paths.flatMap((path) => fileSide(path) ?? []))
  if (domain !== undefined) return { domain, because: `it names ${paths[0]}` }
  return { domain: 'fullstack', because: 'nothing in it points to one side' }
}

/** The side of all tasks together; documentation beside code does not count. */
export function domainOfRun(domains: readonly TaskDomain[]): TaskDomain {
  return combined(domains) ?? 'fullstack'
}

export interface Tracking {
  readonly level: 'light' | 'full'
  readonly codeCheckpoints: boolean
  readonly usageEntries: boolean
  readonly because: string
}

export function trackingFor(complexity: Complexity): Tracking {
  const isFull = complexity === 'complex'
  const because = isFull
    ? `the work is complex (${COMPLEX_FROM} tasks or more)`
    : `the work is ${complexity}`
  return {
    level: isFull ? 'full' : 'light',
    codeCheckpoints: isFull,
    usageEntries: isFull,
    because,
  }
}

const ORDER: readonly Complexity[] = ['simple', 'medium', 'complex']

function greatest(said: readonly (readonly [Complexity, string])[]): Classed {
  const rank = Math.max(0, ...said.map(([complexity]) => ORDER.indexOf(complexity)))
  const complexity = ORDER[rank]!
  return {
    complexity,
    reasons: said.filter(([one]) => one === complexity).map(([, reason]) => reason),
  }
}

function byCount(count: number): Complexity {
  return count >= COMPLEX_FROM ? 'complex' : count >= MEDIUM_FROM ? 'medium' : 'simple'
}

function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`
}

const LABELS: readonly (readonly [TaskDomain, RegExp])[] = [
  ['frontend', /^(?:front-?end|ui|ux|css|web|client|area[:/]front-?end)$/i],
  ['backend', /^(?:back-?end|api|server|db|database|area[:/]back-?end)$/i],
  ['fullstack', /^full-?stack$/i],
  ['devops', /^(?:dev-?ops|ops|ci|cd|infra(?:structure)?|deploy(?:ment)?|release|build)$/i],
  ['debugging', /^(?:debug(?:ging)?|bug|bugfix|regression|crash)$/i],
  ['docs', /^(?:docs?|documentation)$/i],
]

const KINDS: Readonly<Record<string, TaskDomain>> = {
  documentation: 'docs',
  devops: 'devops',
  debugger: 'debugging',
}

const SIDES: readonly (readonly [TaskDomain, RegExp])[] = [
  [
    'frontend',
    /\b(?:front-?end|ui|css|stylesheet|button|page|layout|component|browser|react|vue|svelte|form)\b/i,
  ],
  [
    'backend',
    /\b(?:back-?end|server|api|endpoint|database|sql|migration|queue|worker|schema|cache)\b/i,
  ],
]

// A path has a folder or an extension.
const PATH =
  /(?:^|[\s`'"(])((?:[\w.@-]+\/)+[\w.@-]*[\w-]|[\w-][\w.-]*\.[a-z]{1,5})(?=$|[\s`'",;:)]|\.(?:\s|$))/gim

function pathsIn(text: string): readonly string[] {
  return [...new Set([...text.slice(0, MOST_READ).matchAll(PATH)].map((match) => match[1]!))]
}

function fileSide(path: string): TaskDomain | undefined {
  const side = fileDomain(path)
  return side === 'other' ? undefined : side
}

function combined(domains: readonly TaskDomain[]): TaskDomain | undefined {
  const all = [...new Set(domains)]
  const code = all.filter((domain) => domain !== 'docs')
  if (code.length === 0) return all[0]
  return code.length === 1 ? code[0] : 'fullstack'
}
