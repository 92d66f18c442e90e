import * as fc from 'fast-check'
import type {
  EntryData,
  EntryKind,
  GitState,
  TaskFields,
  WorkflowTemplate,
} from '../../src/session/entries.ts'
import type { RawEntry } from '../../src/session/effective-entries.ts'

/** Texts that people and programs write, and some that break parsers. */
export const anyWords = fc.oneof(
  { weight: 5, arbitrary: fc.lorem({ maxCount: 8 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 40 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '',
      'start',
      '__proto__',
      'a\0b',
      '\ud83d',
      'one\ntwo',
      'x'.repeat(2000),
    ),
  },
)

/** The sources for the data of one entry: choices, words, and the entries before it. */
interface Draw {
  words(): string
  maybe<T>(value: () => T): T | undefined
  one<T>(...values: readonly T[]): T
  /** The id of an earlier entry of one of these kinds, sometimes an unknown one. */
  earlier(...kinds: readonly EntryKind[]): string
  git(): GitState
}

const PLACED: readonly EntryKind[] = [
  'step.added',
  'decision.made',
  'discovery.made',
  'gotcha.found',
  'blocker.raised',
]
const PATHS = ['src/a.ts', 'src/b.ts', 'test/a.test.ts', 'README.md'] as const

/** More than the number of finished delegates a state keeps. */
const DELEGATES = Array.from({ length: 40 }, (_, number) => `d-${number}`)

const PHASES = ['1', '2', '2a', '2b', '3', 'none'] as const
const TEMPLATES: readonly WorkflowTemplate[] = [
  {
    name: 'own',
    phases: [
      {
        id: '1',
        name: 'Plan',
        gate: 'approval',
        tokens: [10_000, 20_000],
        conversation: 'a',
        deliverables: [PATHS[0]],
      },
      {
        id: '2',
        name: 'Build',
        focus: 'code',
        subPhases: [
          { id: '2a', name: 'RED' },
          { id: '2b', name: 'GREEN', focus: 'pass' },
        ],
      },
      { id: '3', name: 'Ship', gate: 'none', tokens: [1, 1], conversation: 'b' },
    ],
  },
  { name: 'short', phases: [{ id: '1', name: 'Only' }] },
  { name: 'none', phases: [] },
]

const after = (draw: Draw, ...kinds: readonly EntryKind[]) =>
  draw.maybe(() => draw.one('start', draw.earlier(...kinds)))
const when = (draw: Draw) => draw.maybe(() => '2026-01-02T03:04:00.000Z')
const conversation = (draw: Draw) => draw.one('c-1', 'c-2', draw.words())
const whose = (draw: Draw) => draw.maybe(() => draw.one('tests', draw.words()))
const task = (draw: Draw) => draw.one('1', '2', 'build/3')

/** How the data of each kind is generated. A kind added to `EntryData` does not compile here until it is generated, too. */
const MAKE: {
  readonly [K in EntryKind]: (draw: Draw) => {
    [P in keyof EntryData[K]]: EntryData[K][P] | undefined
  }
} = {
  'session.opened': (draw) => ({
    name: draw.one('fix-login', 'a', draw.words()),
    title: draw.maybe(() => draw.words()),
    goal: draw.maybe(() => draw.words()),
    worktree: draw.maybe(() => '/tmp/tree'),
    git: draw.maybe(() => draw.git()),
  }),
  'session.renamed': (draw) => ({ name: draw.words() }),
  'session.titled': (draw) => ({ title: draw.words() }),
  'session.paused': (draw) => ({
    note: draw.maybe(() => draw.words()),
    switchTo: draw.maybe(() => draw.words()),
    git: draw.maybe(() => draw.git()),
  }),
  'session.resumed': (draw) => ({
    git: draw.maybe(() => draw.git()),
    worktree: draw.maybe(() => '/tmp/other'),
  }),
  'session.closed': (draw) => ({
    how: draw.one('completed', 'abandoned'),
    reason: draw.maybe(() => draw.words()),
    git: draw.maybe(() => draw.git()),
  }),
  'session.reopened': (draw) => ({ git: draw.maybe(() => draw.git()) }),
  'goal.set': (draw) => ({ text: draw.words() }),
  'tldr.written': (draw) => ({ text: draw.words() }),
  'step.added': (draw) => ({
    text: draw.words(),
    after: after(draw, 'step.added'),
    plan: draw.maybe(() => conversation(draw)),
  }),
  'step.started': (draw) => ({ step: draw.earlier('step.added') }),
  'step.stopped': (draw) => ({ step: draw.earlier('step.added') }),
  'step.done': (draw) => ({ step: draw.earlier('step.added'), when: when(draw) }),
  'step.reopened': (draw) => ({ step: draw.earlier('step.added') }),
  'step.dropped': (draw) => ({ step: draw.earlier('step.added') }),
  'progress.made': (draw) => ({ text: draw.words(), when: when(draw) }),
  'decision.made': (draw) => ({
    title: draw.words(),
    context: draw.maybe(() => draw.words()),
    options: draw.maybe(() => draw.words()),
    choice: draw.maybe(() => draw.words()),
    rationale: draw.maybe(() => draw.words()),
    after: after(draw, 'decision.made'),
    when: when(draw),
    whose: whose(draw),
  }),
  'discovery.made': (draw) => ({
    text: draw.words(),
    after: after(draw, 'discovery.made', 'gotcha.found'),
    when: when(draw),
    whose: whose(draw),
  }),
  'gotcha.found': (draw) => ({
    text: draw.words(),
    after: after(draw, 'discovery.made', 'gotcha.found'),
    when: when(draw),
    whose: whose(draw),
  }),
  'blocker.raised': (draw) => ({
    text: draw.words(),
    after: after(draw, 'blocker.raised'),
    when: when(draw),
    whose: whose(draw),
  }),
  'blocker.resolved': (draw) => ({
    blocker: draw.earlier('blocker.raised'),
    resolution: draw.maybe(() => draw.words()),
    when: when(draw),
  }),
  'blocker.reopened': (draw) => ({ blocker: draw.earlier('blocker.raised') }),
  'next.added': (draw) => ({ text: draw.words(), after: after(draw, 'next.added') }),
  'next.taken': (draw) => ({ next: draw.earlier('next.added') }),
  'key.added': (draw) => ({
    text: draw.words(),
    after: after(draw, 'key.added'),
    from: draw.maybe(() => draw.earlier('decision.made', 'gotcha.found')),
  }),
  'file.noted': (draw) => ({
    path: draw.one(...PATHS),
    description: draw.words(),
    after: after(draw, 'file.noted'),
  }),
  'file.changed': (draw) => ({
    path: draw.one(...PATHS),
    description: draw.maybe(() => draw.words()),
    after: after(draw, 'file.changed'),
  }),
  'file.dropped': (draw) => ({ path: draw.one(...PATHS), list: draw.one('key', 'changed') }),
  'command.kept': (draw) => ({ command: draw.words(), after: after(draw, 'command.kept') }),
  'note.added': (draw) => ({
    text: draw.words(),
    after: after(draw, 'note.added'),
    when: when(draw),
  }),
  'remark.placed': (draw) => ({
    section: draw.one('Context', 'Progress'),
    after: draw.one('start', 'x'),
    text: draw.words(),
  }),
  'section.written': (draw) => ({
    title: draw.words(),
    body: draw.words(),
    after: draw.one('start', 'Context'),
  }),
  'field.set': (draw) => ({
    key: draw.one('ticket', 'owner', '__proto__', draw.words()),
    value: draw.one('', draw.words()),
  }),
  'item.moved': (draw) => ({
    entry: draw.earlier(...PLACED),
    after: draw.one('start', draw.earlier(...PLACED)),
  }),
  'git.observed': (draw) => ({ git: draw.git() }),
  'checkpoint.made': (draw) => ({
    note: draw.maybe(() => draw.words()),
    tldr: draw.maybe(() => draw.words()),
    preCompact: draw.maybe(() => draw.one(true, false)),
    git: draw.maybe(() => draw.git()),
    code: draw.maybe(() => ({ commit: 'c0ffee', ref: 'refs/stint/1', leftOut: ['big.bin'] })),
  }),
  'handoff.made': (draw) => ({
    number: draw.one(1, 2, 3),
    hash: draw.one('sha256:aa', 'sha256:bb'),
    tokens: draw.one(600, 3000),
    document: draw.words(),
    reason: draw.maybe(() => draw.words()),
    isDraft: draw.maybe(() => draw.one(true, false)),
    to: draw.maybe(() => ({
      kind: draw.one('task', 'session'),
      id: task(draw),
      name: draw.words(),
    })),
    git: draw.maybe(() => draw.git()),
    code: draw.maybe(() => ({ commit: 'c0ffee', ref: 'refs/stint/1' })),
    conversation: draw.maybe(() => conversation(draw)),
    position: { bytes: 100, entries: 3, last: draw.earlier(...PLACED) },
    files: draw.maybe(() => [{ path: draw.one(...PATHS), sum: '00000000' }]),
    tasks: draw.maybe(() => [{ task: task(draw), status: draw.one('ready', 'completed') }]),
  }),
  'handoff.accepted': (draw) => ({
    handoff: draw.earlier('handoff.made'),
    hash: draw.one('sha256:aa', 'sha256:bb'),
    outcome: draw.one('loaded', 'stale', 'mismatch'),
    moved: draw.maybe(() => [draw.words()]),
    forced: draw.maybe(() => draw.one(true, false)),
    conversation: draw.maybe(() => conversation(draw)),
  }),
  'context.compacted': (draw) => ({
    trigger: draw.maybe(() => 'auto'),
    conversation: draw.maybe(() => conversation(draw)),
    boundary: draw.maybe(() => draw.words()),
    tokensBefore: draw.maybe(() => 167_000),
  }),
  'summary.kept': (draw) => ({
    text: draw.words(),
    conversation: conversation(draw),
    boundary: draw.maybe(() => draw.words()),
  }),
  'context.given': (draw) => ({
    conversation: conversation(draw),
    event: 'SessionStart',
    mark: draw.one('a1', 'b2'),
    chars: draw.one(0, 7000),
    why: draw.maybe(() => draw.words()),
    whole: draw.maybe(() => 20_000),
    toon: draw.maybe(() => ({ chars: 300, json: 500 })),
  }),
  'hooks.ran': (draw) => ({
    conversation: conversation(draw),
    events: draw.one<Record<string, { times: number; ms: number; chars: number; gave: number }>>(
      {},
      { Stop: { times: 1, ms: 40, chars: 0, gave: 0 } },
    ),
    writes: draw.one(0, 12),
  }),
  'maintenance.done': () => ({}),
  'conversation.joined': (draw) => ({
    conversation: conversation(draw),
    harness: 'claude',
    source: draw.one('startup', 'resume'),
    transcript: draw.maybe(() => '/tmp/t.jsonl'),
  }),
  'conversation.ended': (draw) => ({
    conversation: conversation(draw),
    reason: draw.one('other', 'clear'),
  }),
  'request.made': (draw) => ({
    text: draw.words(),
    conversation: conversation(draw),
  }),
  'question.answered': (draw) => ({
    question: draw.words(),
    answer: draw.words(),
    conversation: conversation(draw),
  }),
  'message.captured': (draw) => ({
    statements: [
      {
        text: draw.words(),
        kind: draw.one('rule', 'decision', 'fact', 'finding', 'next'),
        value: draw.one(0, 0.4, 1),
      },
    ],
    conversation: conversation(draw),
  }),
  'command.observed': (draw) => ({
    command: draw.one('npm test', draw.words()),
    errors: [{ at: draw.one('src/a.ts:3', draw.words()), message: draw.words() }],
    versions: [{ subject: draw.words(), version: draw.one('1.2.3', '2.0.0') }],
    written: [{ path: draw.words() }],
    removed: [],
    commits: [],
    failing: [{ name: draw.words(), detail: draw.words() }],
    passing: draw.one([], [draw.words()]),
    succeeded: draw.one([], ['npm test']),
    conversation: conversation(draw),
  }),
  'turn.ended': (draw) => ({
    conversation: conversation(draw),
    said: draw.maybe(() => draw.words()),
    failure: draw.maybe(() => draw.words()),
    model: draw.maybe(() => 'some-model'),
    usage: draw.maybe(() => ({ input: 1, cacheWritten: 2, cacheRead: 3, output: 4 })),
  }),
  'commit.made': (draw) => ({
    commit: draw.one('abc', 'def', draw.words()),
    subject: draw.words(),
    git: draw.maybe(() => draw.git()),
  }),
  'test.ran': (draw) => ({
    command: draw.one('npm test', 'make test', draw.words()),
    passed: draw.one(true, false),
    summary: draw.maybe(() => draw.words()),
    conversation: draw.maybe(() => conversation(draw)),
  }),
  'budget.crossed': (draw) => ({
    conversation: conversation(draw),
    stage: draw.one<number | 'smart-zone'>(75, 85, 150_000, 'smart-zone'),
    tokens: draw.one(0, 125_000, 151_000),
    point: draw.maybe(() => 167_000),
    window: draw.maybe(() => 200_000),
    source: draw.one('transcript', draw.words()),
  }),
  'output.kept': (draw) => ({
    label: draw.maybe(() => draw.words()),
    command: draw.one('npm test', draw.words()),
    exit: draw.one(0, 1, 130),
    artifact: draw.one('.sessions/artifacts/0123456789abcdef.txt', draw.words()),
    bytes: draw.one(0, 1_000_000),
    lines: draw.one(0, 2000),
    shown: draw.maybe(() => 4000),
    summary: draw.maybe(() => draw.words()),
  }),
  'agent.finished': (draw) => ({
    agent: draw.words(),
    type: draw.maybe(() => 'reviewer'),
    task: draw.maybe(() => draw.words()),
    result: draw.maybe(() => draw.words()),
    conversation: conversation(draw),
  }),
  'delegate.begun': (draw) => ({
    delegate: draw.one(...DELEGATES),
    name: draw.one('tests', draw.words()),
    what: draw.words(),
    as: draw.maybe(() => draw.one('tests', 'review')),
    task: draw.maybe(() => task(draw)),
    group: draw.maybe(() => draw.one('g-1', draw.words())),
    branch: draw.one('stint/tests', draw.words()),
  }),
  'delegate.reported': (draw) => ({
    delegate: draw.one(...DELEGATES),
    name: draw.one('tests', draw.words()),
    status: draw.one('ready', 'merged', 'conflicted', 'failed', 'parked', 'discarded'),
    what: draw.maybe(() => draw.words()),
    summary: draw.maybe(() => draw.words()),
    because: draw.maybe(() => draw.words()),
    commit: draw.maybe(() => 'c0ffee'),
    branch: draw.maybe(() => 'stint/tests'),
    report: draw.maybe(() => draw.words()),
    files: draw.maybe(() => [draw.one(...PATHS)]),
    usage: draw.maybe(() => ({ input: 1, cacheWritten: 2, cacheRead: 3, output: 4 })),
    task: draw.maybe(() => task(draw)),
    deliverables: draw.maybe(() => [draw.one(...PATHS)]),
  }),
  'entry.retracted': (draw) => ({
    entry: draw.earlier(
      ...PLACED,
      'entry.retracted',
      'entry.amended',
      'session.opened',
      'key.added',
      'progress.made',
    ),
    reason: draw.maybe(() => draw.words()),
  }),
  'entry.amended': (draw) => ({
    entry: draw.earlier(...PLACED, 'progress.made', 'entry.amended'),
    changes: draw.one<Record<string, unknown>>(
      { text: draw.words() },
      { title: draw.words(), context: null },
      { after: 'start' },
    ),
  }),
  'workflow.begun': (draw) => ({
    workflow: 'wf-001',
    name: draw.words(),
    template: draw.one(...TEMPLATES),
  }),
  'phase.entered': (draw) => ({
    phase: draw.one(...PHASES),
    note: draw.maybe(() => draw.words()),
    git: draw.maybe(() => draw.git()),
  }),
  'phase.finished': (draw) => ({
    phase: draw.one(...PHASES),
    note: draw.maybe(() => draw.words()),
    git: draw.maybe(() => draw.git()),
  }),
  'phase.approved': (draw) => ({
    phase: draw.one(...PHASES),
    note: draw.maybe(() => draw.words()),
    said: draw.maybe(() => draw.words()),
  }),
  'focus.set': (draw) => ({ text: draw.one('', draw.words()) }),
  'deliverable.set': (draw) => ({
    path: draw.one(...PATHS, draw.words()),
    phase: draw.maybe(() => draw.one(...PHASES)),
  }),
  'deliverable.dropped': (draw) => ({ path: draw.one(...PATHS) }),
  'task.linked': (draw) => ({ task: task(draw) }),
  'task.unlinked': (draw) => ({ task: task(draw) }),
  'task.added': (draw) => ({ task: task(draw), ...taskFields(draw) }),
  'task.changed': (draw) => ({ task: task(draw), ...taskFields(draw) }),
  'task.moved': (draw) => ({
    task: task(draw),
    status: draw.one('ready', 'in_progress', 'blocked', 'completed', 'failed'),
    summary: draw.maybe(() => draw.words()),
    git: draw.maybe(() => draw.git()),
    whose: whose(draw),
  }),
  'task.reported': (draw) => ({
    task: task(draw),
    status: draw.one('completed', 'blocked', 'failed'),
    summary: draw.maybe(() => draw.words()),
    run: idOf(0xffe0),
  }),
  'task.checked': (draw) => ({ task: task(draw), item: draw.words(), done: draw.one(true, false) }),
}

export const ENTRY_KINDS = Object.keys(MAKE) as readonly EntryKind[]

interface Length {
  readonly minLength?: number
  readonly maxLength?: number
}

/** A possible session: opened, then any entries, which refer to earlier ones. */
export function history({
  kinds = ENTRY_KINDS,
  ...length
}: Length & { kinds?: readonly EntryKind[] } = {}) {
  return moves(kinds, length).map(toEntries)
}

/** A session in two parts, of which the second may have other kinds, with the start of the second. */
export function historyInTwo(
  first: readonly EntryKind[],
  second: readonly EntryKind[],
  length: Length = {},
) {
  return fc.tuple(moves(first, length), moves(second, length)).map(([before, after]) => {
    const entries = toEntries([...before, ...after.map(({ once: _once, ...move }) => move)])
    return { entries, at: before.length + 1 }
  })
}

interface Move {
  readonly kind: EntryKind
  readonly seeds: readonly number[]
  readonly words: string
  readonly once?: string | undefined
}

function moves(
  kinds: readonly EntryKind[],
  { minLength = 0, maxLength = 60 }: Length,
): fc.Arbitrary<Move[]> {
  const move = fc.record({
    kind: fc.constantFrom(...kinds),
    seeds: fc.array(fc.nat({ max: 0xffff }), { minLength: 6, maxLength: 6 }),
    words: anyWords,
    once: fc.option(fc.constantFrom('compaction-1', 'compaction-2', 'stop-1'), {
      nil: undefined,
      freq: 12,
    }),
  })
  return fc.array(move, { minLength, maxLength, size: 'max' })
}

function toEntries(moves: readonly Move[]): RawEntry[] {
  const entries: RawEntry[] = [
    entry(0, 'session.opened', MAKE['session.opened'](drawFrom([7, 1, 2], 'fix-login', []))),
  ]
  for (const { kind, seeds, words, once } of moves) {
    const made = entry(entries.length, kind, MAKE[kind](drawFrom(seeds, words, entries)))
    entries.push(once === undefined ? made : { ...made, once })
  }
  return entries
}

const FIELDS =
  'text title entry changes step blocker next after from path git code key value list task name when phase template'.split(
    ' ',
  )
'handoff outcome to text title entry changes step blocker next after from path git code key value list task name when'.split(
  ' ',
)

/** Entries that Stint never writes: any kind, any data. */
export const anyEntries = fc.array(
  fc.record({
    id: fc.oneof(fc.nat({ max: 30 }).map(idOf), fc.string({ maxLength: 5 })),
    at: fc.string({ maxLength: 30 }),
    kind: fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom(...ENTRY_KINDS) },
      {
        weight: 1,
        arbitrary: fc.constantFrom(
          '__proto__',
          'constructor',
          'toString',
          'hasOwnProperty',
          'sail.trimmed',
          '',
        ),
      },
    ),
    by: fc.string({ maxLength: 5 }),
    data: fc.dictionary(
      fc.oneof(fc.constantFrom(...FIELDS), fc.string({ maxLength: 5 })),
      fc.oneof(fc.jsonValue(), fc.nat({ max: 30 }).map(idOf), fc.constant('start')),
    ),
  }),
  { maxLength: 40 },
)

export function idOf(n: number): string {
  return `0190a000-${n.toString(16).padStart(4, '0')}-7000-8000-${(n * 7919 + 1).toString(16).padStart(12, '0')}`
}

function entry(n: number, kind: EntryKind, data: object): RawEntry {
  const at = new Date(Date.UTC(2026, 0, 1) + n * 60_000).toISOString()
  const given = Object.entries(data).filter(([, value]) => value !== undefined)
  return { id: idOf(n), at, kind, by: 'library', data: Object.fromEntries(given) }
}

function drawFrom(seeds: readonly number[], words: string, entries: readonly RawEntry[]): Draw {
  let drawn = 0
  const next = () => seeds[drawn++ % seeds.length]! + drawn
  const draw: Draw = {
    words: () => words,
    maybe: (value) => (next() % 2 === 0 ? value() : undefined),
    one: (...values) => values[next() % values.length]!,
    earlier: (...kinds) => {
      const candidates = entries.filter(({ kind }) => kinds.includes(kind as EntryKind))
      return next() % 20 === 0
        ? idOf(0xfff0)
        : (candidates[next() % Math.max(1, candidates.length)]?.id ?? idOf(0xfff1))
    },
    git: () => ({
      branch: draw.one('main', 'fix'),
      commit: draw.one('abc123', 'def456'),
      dirty: next() % 5,
    }),
  }
  return draw
}

function taskFields(draw: Draw): { [K in keyof TaskFields]: TaskFields[K] | undefined } {
  return {
    title: draw.maybe(() => draw.words()),
    labels: draw.maybe(() => ['bug']),
    dependsOn: draw.maybe(() => [task(draw)]),
    checklist: draw.maybe(() => [{ item: draw.words(), done: false }]),
  }
}
