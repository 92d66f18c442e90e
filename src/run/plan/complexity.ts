// How big a piece of work is and which side of a product it is on, told before it begins from what is written about it. What
// it comes to decides how much is recorded on the way: a short run does not pay for bookkeeping that nobody will read.
import { fileDomain } from '../../document/export/domain.ts'
import { COMPLEX_FROM, type Complexity } from '../../document/export/work.ts'
import { proposeSpecialist } from '../../backlog/specialist.ts'
import type { Task } from '../../backlog/task.ts'

export interface Classed {
  readonly complexity: Complexity
  /** What makes it that, each in a few words. */
  readonly reasons: readonly string[]
}

const MEDIUM_FROM = 3
const LONG_TEXT = 1200
/** More of a text says nothing new about what it is. */
const MOST_READ = 20_000

/** The class of a run or a session: by how many tasks it has, and how many files where that is known. */
export function classOfRun(work: {
  readonly tasks: readonly Pick<Task, 'size'>[]
  readonly files?: number
}): Classed {
  const { tasks, files } = work
  const large = tasks.filter(({ size }) => size === 'L' || size === 'XL').length
  return greatest([
    [byCount(tasks.length), counted(tasks.length, 'task')],
    ...(files === undefined ? [] : [[byCount(files), counted(files, 'file')] as const]),
    // However large, a few tasks are overseen without more bookkeeping.
    ...(large === 0 ? [] : [['medium', `${large} of size L or XL`] as const]),
  ])
}

type Described = Pick<
  Task,
  'title' | 'description' | 'details' | 'labels' | 'assignee' | 'size' | 'checklist' | 'children'
>

/** The class of one task: by its size, its parts, and the files and words it takes to say what is wanted. */
export function classOfTask(task: Described): Classed {
  const parts = Math.max(task.checklist.length, task.children.length)
  const files = pathsIn(`${task.description}\n${task.details}`).length
  const length = task.description.length + task.details.length
  return greatest([
    // M is what a task has of which nobody said a size.
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

export interface ProposedDomain {
  readonly domain: TaskDomain
  readonly because: string
}

/** Which side of a product a task is on: by its labels, then its words, then the paths it names. */
export function domainOfTask(
  task: Pick<Task, 'title' | 'description' | 'details' | 'labels'>,
): ProposedDomain {
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
  // A path says more by its folders than by a word that happens to be in it.
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

/** The side that all of a run's tasks are on; what is written along with code does not count. */
export function domainOfRun(domains: readonly TaskDomain[]): TaskDomain {
  return combined(domains) ?? 'fullstack'
}

/** What a run writes down besides what it needs to go on after a crash. */
export interface Tracking {
  readonly level: 'light' | 'full'
  /** The working tree is kept as a commit after each task. */
  readonly codeCheckpoints: boolean
  /** Each turn leaves an entry with what it used. */
  readonly usageEntries: boolean
  readonly because: string
}

/** Light below six tasks, full from there on. */
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

/** The greatest class that anything speaks for, with what speaks for it. */
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

// A path has a folder or an ending; a word with a full stop behind it has neither.
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
