import { type Priority, type Size, type Task, cleanLine, readPriority, readSize } from './task.ts'

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

interface SpecialistProposal {
  readonly specialist: Specialist
  readonly because: string
}

const OTHER_NAMES: Readonly<Record<Specialist, string>> = {
  architect: 'architecture design designer planner',
  code: 'coder coding developer feature implementation refactor',
  debugger: 'debug bug bugfix regression crash',
  reviewer: 'review audit code-review',
  documentation: 'docs doc documenter writer',
  research: 'researcher spike investigation explore',
  devops: 'ops ci cd infra infrastructure deploy deployment release build',
  tests: 'test tester testing qa coverage',
}

export function readSpecialist(name: string): Specialist | undefined {
  const word = cleanLine(name)
    .toLowerCase()
    .replace(/[\s-]agent$/, '')
  return SPECIALISTS.find(
    (specialist) => specialist === word || OTHER_NAMES[specialist].split(' ').includes(word),
  )
}

// A title that starts with one of these is about changing code, whatever else it names: "implement the review page".
const CODE_VERBS = /^(?:implement|refactor|rename|port|migrate|extract)\b/i

type Patterns = readonly (readonly [Specialist, RegExp])[]

// Words that name the kind of work. The earliest in the title decides: "write tests for the deploy script".
const SPECIFIC_WORDS: Patterns = [
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

// Words that fit any kind of work and decide only when nothing else does.
const GENERIC_WORDS: Patterns = [
  ['debugger', /\b(?:fix|fails?|failing|broken|errors?)\b/i],
  ['code', /\b(?:add|build|create|write|support|make|remove|change|update)\b/i],
]

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
  const codeVerb = CODE_VERBS.exec(task.title)
  if (codeVerb !== null) return { specialist: 'code', because: `the title says "${codeVerb[0]}"` }
  return (
    earliest(SPECIFIC_WORDS, task.title, 'title') ??
    earliest(GENERIC_WORDS, task.title, 'title') ??
    earliest(SPECIFIC_WORDS, task.description, 'description') ?? {
      specialist: 'code',
      because: 'nothing in it asks for another',
    }
  )
}

function earliest(patterns: Patterns, text: string, where: string) {
  const found = patterns.flatMap(([specialist, pattern]) => {
    const match = pattern.exec(text)
    return match === null ? [] : [{ specialist, word: match[0], at: match.index }]
  })
  const [first] = found.toSorted((a, b) => a.at - b.at)
  return first && { specialist: first.specialist, because: `the ${where} says "${first.word}"` }
}

interface QuickForm {
  title: string
  dependsOn: readonly string[]
  labels: readonly string[]
  group?: string
  assignee?: string
  priority?: Priority
  size?: Size
}

/** Returns false when the match is not this form after all, or the field was already set. */
type Form = readonly [pattern: RegExp, take: (found: QuickForm, match: RegExpExecArray) => boolean]

const FORMS: readonly Form[] = [
  [
    /\s\(depends(?: on)?:\s*(?:\[([^\][()]*)\]|([^\][()]*))\)$/i,
    (found, match) => {
      const names = (match[1] ?? match[2] ?? '').split(',').map(cleanLine)
      found.dependsOn = [...new Set([...names.filter((name) => name !== ''), ...found.dependsOn])]
      return true
    },
  ],
  [/\s\(parallel:\s*([^()]+)\)$/i, (found, match) => setOnce(found, 'group', cleanLine(match[1]))],
  [
    // Without "agent" the word must be a specialist's name, or "-> see docs" would lose its end.
    /\s(?:→|->)\s*([\p{L}][\p{L}\p{N}_-]*)(\s+agent)?$/iu,
    (found, match) => {
      const name = match[1] ?? ''
      const specialist = readSpecialist(name)
      if (specialist === undefined && match[2] === undefined) return false
      return setOnce(found, 'assignee', specialist ?? name)
    },
  ],
  [
    /\s#(\p{L}[\p{L}\p{N}_/-]*)$/u,
    (found, match) => {
      found.labels = [...new Set([match[1]!, ...found.labels])]
      return true
    },
  ],
  [/\s(P[0-3])$/, (found, match) => setOnce(found, 'priority', readPriority(match[1]))],
  [/\s!(XS|S|M|L|XL)$/, (found, match) => setOnce(found, 'size', readSize(match[1]))],
]

/**
 * Reads the short forms at the end of a title, in any order: `(depends: [t1, t2])`, `(parallel: group1)`, `→ code agent` or `-> code`,
 * `#label`, `P1`, `!S`. Only the end counts: "teach #tags to sort" and "a -> b renames" are titles like any other, and `#12` is an issue.
 */
export function readQuickForm(text: string): Readonly<QuickForm> {
  const found: QuickForm = { title: cleanLine(text), dependsOn: [], labels: [] }
  while (FORMS.some((form) => applyForm(found, form))) {
    // Each round removes one form from the end.
  }
  return found
}

function applyForm(found: QuickForm, [pattern, apply]: Form) {
  const match = pattern.exec(found.title)
  // The title is never emptied: the pattern starts with a space and the title does not.
  if (match === null || !apply(found, match)) return false
  found.title = found.title.slice(0, match.index)
  return true
}

function setOnce<K extends 'group' | 'assignee' | 'priority' | 'size'>(
  found: QuickForm,
  key: K,
  value: QuickForm[K] | undefined,
) {
  if (found[key] !== undefined || value === undefined || value === '') return false
  found[key] = value
  return true
}
