import { line } from './canonical.ts'
import type { Task } from './task.ts'

export const SPECIALISTS = [
  'architect',
  'code',
  'debugger',
  'reviewer',
  'documentation',
  'research',
  'devops',
  'tests',
] as const

export type Specialist = (typeof SPECIALISTS)[number]

export interface SpecialistProposal {
  readonly specialist: Specialist
  /** What in the task speaks for it. */
  readonly because: string
}

const OTHER_NAMES: Readonly<Record<Specialist, readonly string[]>> = {
  architect: ['architecture', 'design', 'designer', 'planner'],
  code: ['coder', 'coding', 'developer', 'feature', 'implementation', 'refactor'],
  debugger: ['debug', 'bug', 'bugfix', 'regression', 'crash'],
  reviewer: ['review', 'audit', 'code-review'],
  documentation: ['docs', 'doc', 'documenter', 'writer'],
  research: ['researcher', 'spike', 'investigation', 'explore'],
  devops: [
    'ops',
    'ci',
    'cd',
    'infra',
    'infrastructure',
    'deploy',
    'deployment',
    'release',
    'build',
  ],
  tests: ['test', 'tester', 'testing', 'qa', 'coverage'],
}

/** The specialist that a name or label means, if it means one. */
export function readSpecialist(name: string): Specialist | undefined {
  const word = line(name)
    .toLowerCase()
    .replace(/[\s-]agent$/, '')
  return SPECIALISTS.find(
    (specialist) => specialist === word || OTHER_NAMES[specialist].includes(word),
  )
}

// A title that begins so is about changing code, whatever it then names: "implement the review page".
const MAKING = /^(?:implement|refactor|rename|port|migrate|extract)\b/i

// Words that name the work itself. The earliest in the title decides: "write tests for the deploy script".
const TELLING: readonly (readonly [Specialist, RegExp])[] = [
  ['documentation', /\b(?:docs?|documentation|document|readme|changelog|tutorial|typos?)\b/i],
  ['tests', /\b(?:tests?|testing|coverage|test suite|e2e)\b/i],
  [
    'devops',
    /\b(?:deploy\w*|docker\w*|kubernetes|helm|terraform|ci|pipeline|github actions|release|infrastructure)\b/i,
  ],
  ['reviewer', /\b(?:review|audit|security check)\b/i],
  ['architect', /\b(?:architecture|architect|design|adr|rfc|schema design|plan)\b/i],
  ['research', /\b(?:research|investigate|evaluate|compare|spike|explore|find out)\b/i],
  [
    'debugger',
    /\b(?:debug|bugs?|crash\w*|regression|flaky|leak\w*|hangs?|deadlock|stack trace)\b/i,
  ],
]

// Words that go with any kind of work and decide only when nothing else does.
const HINTING: readonly (readonly [Specialist, RegExp])[] = [
  ['debugger', /\b(?:fix|fails?|failing|broken|errors?)\b/i],
  ['code', /\b(?:add|build|create|write|support|make|remove|change|update)\b/i],
]

/** Who should do a task, for want of somebody having said so: by its assignee, its labels, then its words. */
export function proposeSpecialist(
  task: Pick<Task, 'title' | 'description' | 'labels' | 'assignee'>,
): SpecialistProposal {
  const assigned = readSpecialist(task.assignee ?? '')
  if (assigned !== undefined)
    return { specialist: assigned, because: `assigned to ${task.assignee}` }
  for (const label of task.labels) {
    const specialist = readSpecialist(label)
    if (specialist !== undefined) return { specialist, because: `label ${label}` }
  }
  const making = MAKING.exec(task.title)
  if (making !== null) return { specialist: 'code', because: `the title says "${making[0]}"` }
  return (
    earliest(TELLING, task.title, 'title') ??
    earliest(HINTING, task.title, 'title') ??
    earliest(TELLING, task.description, 'description') ?? {
      specialist: 'code',
      because: 'nothing in it asks for another',
    }
  )
}

function earliest(
  words: readonly (readonly [Specialist, RegExp])[],
  text: string,
  where: 'title' | 'description',
): SpecialistProposal | undefined {
  const found = words.flatMap(([specialist, pattern]) => {
    const match = pattern.exec(text)
    return match === null ? [] : [{ specialist, word: match[0], at: match.index }]
  })
  const [first] = found.toSorted((a, b) => a.at - b.at)
  return first && { specialist: first.specialist, because: `the ${where} says "${first.word}"` }
}
