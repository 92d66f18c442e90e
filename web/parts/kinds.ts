// The kinds of entry, in a few groups that people tell apart, and in words.

export const GROUPS = {
  decisions: 'Decisions',
  findings: 'Findings',
  blockers: 'Blockers',
  steps: 'Steps',
  requests: 'Requests',
  code: 'Code',
  tasks: 'Tasks',
  context: 'Context',
  session: 'Session',
} as const

export type Group = keyof typeof GROUPS

const AREAS: Readonly<Record<string, Group>> = {
  decision: 'decisions',
  discovery: 'findings',
  gotcha: 'findings',
  blocker: 'blockers',
  step: 'steps',
  progress: 'steps',
  next: 'steps',
  request: 'requests',
  turn: 'requests',
  commit: 'code',
  test: 'code',
  git: 'code',
  output: 'code',
  file: 'code',
  command: 'code',
  task: 'tasks',
  delegate: 'tasks',
  agent: 'tasks',
  handoff: 'tasks',
  phase: 'tasks',
  workflow: 'tasks',
  deliverable: 'tasks',
  focus: 'tasks',
  context: 'context',
  conversation: 'context',
  summary: 'context',
  budget: 'context',
  hooks: 'context',
}

export function groupOf(kind: string): Group {
  const area = kind.split('.', 1)[0]!
  return (Object.hasOwn(AREAS, area) ? AREAS[area] : undefined) ?? 'session'
}

// Where the word before the dot says it all, the rest is noise.
const PLAIN: ReadonlySet<string> = new Set([
  'decision.made',
  'discovery.made',
  'gotcha.found',
  'progress.made',
  'note.added',
  'request.made',
  'commit.made',
  'checkpoint.made',
  'tldr.written',
  'goal.set',
])

export function kindWords(kind: string): string {
  if (PLAIN.has(kind)) return kind.split('.', 1)[0]!
  return kind.replaceAll(/[._]/g, ' ')
}
