// The complexity and domain of tasks. The complexity decides how much a run records.
import { fileDomain } from '../../document/export/file-domain.ts'
import { COMPLEX_FROM, type SessionComplexity } from '../../document/export/collect-work.ts'
import { proposeSpecialist } from '../../backlog/specialist.ts'
import type { Task } from '../../backlog/task.ts'

const MEDIUM_FROM = 3
const LONG_TEXT = 1200
const MOST_READ = 20_000

export function runComplexity(tasks: readonly Pick<Task, 'size'>[]): SessionComplexity {
  const hasLarge = tasks.some(({ size }) => size === 'L' || size === 'XL')
  // A few large tasks alone do not need full tracking.
  return highest([byCount(tasks.length), hasLarge ? 'medium' : 'simple'])
}

type RatedTask = Pick<
  Task,
  'title' | 'description' | 'details' | 'labels' | 'size' | 'checklist' | 'children'
>

export function taskComplexity(task: RatedTask): SessionComplexity {
  const { checklist, children, description, details, size } = task
  return highest([
    size === 'L' || size === 'XL' ? 'complex' : 'simple',
    byCount(Math.max(checklist.length, children.length)),
    byCount(pathsIn(`${description}\n${details}`).length),
    description.length + details.length > LONG_TEXT ? 'medium' : 'simple',
  ])
}

export type TaskDomain = 'frontend' | 'backend' | 'fullstack' | 'devops' | 'debugging' | 'docs'

/** By its labels, then its words, then the paths it names. */
export function findTaskDomain(
  task: Pick<Task, 'title' | 'description' | 'details' | 'labels'>,
): TaskDomain {
  const { title, description, details, labels } = task
  for (const label of labels) {
    const domain = LABELS.find(([, words]) => words.test(label))?.[0]
    if (domain !== undefined) return domain
  }
  const { specialist } = proposeSpecialist({ title, description: '', labels: [] })
  const kind = KINDS[specialist]
  if (kind !== undefined) return kind
  const text = `${title}\n${description}\n${details}`.slice(0, MOST_READ)
  // A path counts by its folders, not by its words.
  const prose = text.replaceAll(PATH, ' ')
  const sides = SIDES.filter(([, words]) => words.test(prose)).map(([side]) => side)
  return combineDomains(
    sides.length > 0 ? sides : pathsIn(text).flatMap((path) => fileSide(path) ?? []),
  )
}

/** The common domain of several; documentation beside code does not count. */
export function combineDomains(domains: readonly TaskDomain[]): TaskDomain {
  const all = [...new Set(domains)]
  const code = all.filter((domain) => domain !== 'docs')
  if (code.length === 0) return all[0] ?? 'fullstack'
  return code.length === 1 ? code[0]! : 'fullstack'
}

/** `full` makes a code checkpoint after each task and records the usage of each turn. */
export type TrackingLevel = 'light' | 'full'

export function trackingLevelFor(complexity: SessionComplexity): TrackingLevel {
  return complexity === 'complex' ? 'full' : 'light'
}

const ORDER: readonly SessionComplexity[] = ['simple', 'medium', 'complex']

function highest(all: readonly SessionComplexity[]): SessionComplexity {
  return ORDER[Math.max(...all.map((one) => ORDER.indexOf(one)))]!
}

function byCount(count: number): SessionComplexity {
  return count >= COMPLEX_FROM ? 'complex' : count >= MEDIUM_FROM ? 'medium' : 'simple'
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
