/** What git said when an entry was written. */
export interface GitState {
  readonly branch?: string
  readonly commit?: string
  /** Paths with uncommitted changes. */
  readonly dirty?: number
}

/** What the harness said a model call used. The context it left is the sum of all but the output. */
export interface Usage {
  readonly input: number
  readonly cacheWritten: number
  readonly cacheRead: number
  readonly output: number
}

/** What the hooks of a conversation cost since this was last told. */
export interface HookCosts {
  readonly conversation: string
  /** By event: how many ran, how long inside their processes, and what they put before the model, some of them a text. */
  readonly events: Readonly<
    Record<
      string,
      { readonly times: number; readonly ms: number; readonly chars: number; readonly gave: number }
    >
  >
  /** Records they appended and files they wrote, with what was done beside the agent's work. */
  readonly writes: number
}

/** Where an item a person wrote stands: behind the item with this id, or `start` for the top of its list. */
export type After = string

/** The name of the delegate from whose journal an entry was copied, with its work. */
export type Whose = string

/** What became of a delegate's work. */
export type DelegateOutcome = 'ready' | 'merged' | 'conflicted' | 'failed' | 'parked' | 'discarded'

/** Stands for the backlog where a session's id is asked for: its log holds what happens to tasks outside any session. */
export const BACKLOG_ID = '00000000-0000-7000-8000-000000000000'

export type TaskStatus = 'ready' | 'in_progress' | 'blocked' | 'completed' | 'failed'

export interface ChecklistItem {
  readonly item: string
  readonly done: boolean
}

/** The fields of a task that entries may set. An empty text or list clears its field. */
export interface TaskFields {
  readonly shortname?: string
  readonly title?: string
  readonly description?: string
  readonly details?: string
  readonly priority?: string
  readonly size?: string
  readonly labels?: readonly string[]
  readonly dependsOn?: readonly string[]
  readonly parent?: string
  readonly group?: string
  readonly assignee?: string
  readonly verify?: string
  readonly checklist?: readonly ChecklistItem[]
  /** Lines of the task file's frontmatter that are not Stint's, verbatim. */
  readonly extra?: string
}

/** The template a workflow follows, as it was when it was begun: later editions of it change nothing. */
export interface WorkflowTemplate {
  readonly name: string
  readonly phases: readonly TemplatePhase[]
}

export interface TemplateSubPhase {
  readonly id: string
  readonly name: string
  readonly focus?: string
  readonly deliverables?: readonly string[]
}

export interface TemplatePhase extends TemplateSubPhase {
  readonly gate?: 'approval' | 'none'
  /** Typically used, from and to. */
  readonly tokens?: readonly [number, number]
  readonly conversation?: string
  readonly subPhases?: readonly TemplateSubPhase[]
}
/** Whom a handoff is for, when that is not simply whoever goes on with the session. */
export interface HandoffTarget {
  readonly kind: 'task' | 'session'
  readonly id: string
  /** Its short name, for people. */
  readonly name: string
}

/** What became of a handoff where it was taken up. */
export type HandoffOutcome = 'loaded' | 'stale' | 'mismatch'

/** The kinds of entry and what each carries. A kind that is not here is kept and ignored. */
export interface EntryData {
  'session.opened': {
    name: string
    title?: string
    goal?: string
    worktree?: string
    git?: GitState
  }
  'session.renamed': { name: string }
  'session.titled': { title: string }
  'session.paused': { note?: string; switchTo?: string; git?: GitState }
  'session.resumed': { git?: GitState; worktree?: string }
  'session.closed': { how: 'completed' | 'abandoned'; reason?: string; git?: GitState }
  'session.reopened': { git?: GitState }
  'goal.set': { text: string }
  'tldr.written': { text: string }
  /** `plan` names the conversation whose own list of things to do it comes from, with the task's id where it has one. */
  'step.added': { text: string; after?: After; plan?: string }
  'step.started': { step: string }
  'step.stopped': { step: string }
  'step.done': { step: string; when?: string }
  'step.reopened': { step: string }
  /** An agent took it off its list without doing it. */
  'step.dropped': { step: string }
  'progress.made': { text: string; when?: string }
  'decision.made': {
    title: string
    context?: string
    options?: string
    choice?: string
    rationale?: string
    after?: After
    when?: string
    whose?: Whose
  }
  'discovery.made': { text: string; after?: After; when?: string; whose?: Whose }
  'gotcha.found': { text: string; after?: After; when?: string; whose?: Whose }
  'blocker.raised': { text: string; after?: After; when?: string; whose?: Whose }
  'blocker.resolved': { blocker: string; resolution?: string; when?: string }
  'blocker.reopened': { blocker: string }
  'next.added': { text: string; after?: After }
  'next.taken': { next: string }
  'key.added': { text: string; after?: After; from?: string }
  'file.noted': { path: string; description?: string; after?: After }
  'file.changed': { path: string; description?: string; after?: After }
  /** A person took the path off a list; noting it again puts it back. */
  'file.dropped': { path: string; list: 'key' | 'changed' }
  'command.kept': { command: string; after?: After }
  'note.added': { text: string; after?: After; when?: string }
  'remark.placed': { section: string; after: After; text: string }
  'section.written': { title: string; body: string; after: After }
  'field.set': { key: string; value: string }
  'item.moved': { entry: string; after: After }
  'git.observed': { git: GitState }
  'checkpoint.made': {
    note?: string
    tldr?: string
    preCompact?: boolean
    git?: GitState
    /** The working tree as a commit, under `refs/stint/`. */
    code?: { commit: string; ref: string; leftOut?: readonly string[] }
  }
  /**
   * A handoff was made. The entry is the truth and holds the whole text, which is bounded; the file under `handoffs/` is a
   * copy that may be lost, edited, or never come along to another machine.
   */
  'handoff.made': {
    number: number
    /** Over the text without the line that says so. */
    hash: string
    tokens: number
    document: string
    reason?: string
    isDraft?: boolean
    to?: HandoffTarget
    git?: GitState
    /** The working tree of then, as a checkpoint kept it. */
    code?: { commit: string; ref: string }
    conversation?: string
    /** How far the journal went that it tells of; `entries` counts those about the work. */
    position: { bytes: number; entries: number; last: string }
    /** The files it speaks of, as they were. */
    files?: readonly { path: string; sum: string }[]
    tasks?: readonly { task: string; status: TaskStatus }[]
  }
  /** Somebody took a handoff up, or refused to because the document or the world is no longer as it was. */
  'handoff.accepted': {
    handoff: string
    hash: string
    outcome: HandoffOutcome
    moved?: readonly string[]
    forced?: boolean
    conversation?: string
  }
  /** `boundary` is what the harness's transcript calls the place, and the evidence that it happened. */
  'context.compacted': {
    trigger?: string
    conversation?: string
    boundary?: string
    tokensBefore?: number
  }
  /** What the harness made of the conversation before it threw it away. */
  'summary.kept': { text: string; conversation: string; boundary?: string }
  /** A text of ours was put before the model. `mark` is how it is recognised in the transcript. */
  'context.given': {
    conversation: string
    event: string
    mark: string
    chars: number
    why?: string
    /** Bytes of the session's document then: what telling all of it would have taken. */
    whole?: number
    /** Characters of what was told as TOON, and what they would have been as JSON. */
    toon?: { chars: number; json: number }
  }
  /** What the hooks of a turn cost. About no work, and shown to nobody who asks about it. */
  'hooks.ran': HookCosts
  'conversation.joined': {
    conversation: string
    harness: string
    source: string
    transcript?: string
  }
  'conversation.ended': { conversation: string; reason: string }
  /** What the person asked for, in their words. A ruling says how something is to be, or not to be, done. */
  'request.made': { text: string; conversation: string; isRuling?: boolean }
  'turn.ended': {
    conversation: string
    said?: string
    failure?: string
    model?: string
    usage?: Usage
  }
  'commit.made': { commit: string; subject: string; git?: GitState }
  'test.ran': { command: string; passed: boolean; summary?: string; conversation?: string }
  /** A line on the way to the next compaction: a stage, or the end of what a model reads with its whole attention. */
  'budget.crossed': {
    conversation: string
    stage: number | 'smart-zone'
    tokens: number
    /** How many there are when the harness compacts. */
    point?: number
    window?: number
    /** Who told the tokens. */
    source: string
  }
  /** What a command printed is kept whole in a file of its own; `artifact` is its name. */
  'output.kept': {
    label?: string
    command: string
    exit: number
    artifact: string
    bytes: number
    lines: number
    /** Characters of the digest that was printed in its place. */
    shown?: number
    summary?: string
  }
  'agent.finished': {
    agent: string
    type?: string
    task?: string
    result?: string
    conversation: string
  }
  /** A background agent works for this session from now on, or again. */
  'delegate.begun': {
    delegate: string
    name: string
    what: string
    as?: string
    task?: string
    group?: string
    branch: string
  }
  'delegate.reported': {
    delegate: string
    name: string
    status: DelegateOutcome
    what?: string
    summary?: string
    because?: string
    commit?: string
    branch?: string
    /** Where the report of one that only reads is, in `.sessions/`. */
    report?: string
    /** What it changed. */
    files?: readonly string[]
    usage?: Usage
    task?: string
    deliverables?: readonly string[]
  }
  /** Of a project, in the journal of its backlog: somebody went through what is worth doing now and then. */
  'maintenance.done': Record<string, never>
  'entry.retracted': { entry: string; reason?: string }
  'entry.amended': { entry: string; changes: Readonly<Record<string, unknown>> }
  /** The session follows a template from now on. `workflow` is the name it was given then. */
  'workflow.begun': { workflow: string; name: string; template: WorkflowTemplate }
  'phase.entered': { phase: string; note?: string; git?: GitState }
  /** Its work is called finished: it waits for its approval, or it was the last. */
  'phase.finished': { phase: string; note?: string; git?: GitState }
  /** `said` are the person's words, where an agent passed them on. */
  'phase.approved': { phase: string; note?: string; said?: string }
  /** Holds until another phase is entered; an empty text takes it back. */
  'focus.set': { text: string }
  'deliverable.set': { path: string; phase?: string }
  'deliverable.dropped': { path: string }
  'task.linked': { task: string }
  'task.unlinked': { task: string }
  'task.added': { task: string; when?: string } & TaskFields
  'task.changed': { task: string } & TaskFields
  /** Of one that a delegate did, git is what the merge left, which need not be where the session works. */
  'task.moved': {
    task: string
    status: TaskStatus
    summary?: string
    git?: GitState
    whose?: Whose
  }
  /** What an agent in a run says became of a task. The task stays as it is until the run has looked for itself. */
  'task.reported': {
    task: string
    status: 'completed' | 'blocked' | 'failed'
    summary?: string
    run: string
  }
  'task.checked': { task: string; item: string; done: boolean }
}

export type EntryKind = keyof EntryData

export interface Entry<K extends EntryKind = EntryKind> {
  readonly id: string
  readonly at: string
  readonly kind: K
  readonly by: string
  readonly once?: string
  readonly data: Readonly<EntryData[K]>
}

/** An entry to be: the journal gives it its id and time. */
export interface Draft<K extends EntryKind = EntryKind> {
  readonly kind: K
  readonly by: string
  readonly data: Readonly<EntryData[K]>
  readonly id?: string
  readonly at?: string
  readonly once?: string
}

export function draft<K extends EntryKind>(
  kind: K,
  data: EntryData[K],
  extra: Omit<Draft<K>, 'kind' | 'data' | 'by'> & { by?: string } = {},
): Draft<K> {
  return { kind, data: withoutUndefined(data), ...extra, by: extra.by ?? 'library' }
}

function withoutUndefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as T
}
