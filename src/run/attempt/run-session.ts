import type { Task } from '../../backlog/task.ts'
import { StintError, errnoOf } from '../../journal/errors.ts'
import { acceptHandoff } from '../../project/handoff/accept.ts'
import { createHandoff } from '../../project/handoff/create.ts'
import { afterSessionClosed } from '../../project/lifecycle/pause-and-close.ts'
import { initSession } from '../../project/lifecycle/init-session.ts'
import type { LiveSession } from '../../project/store/live-session.ts'
import { WORKTREE_OUTBOX, drainWorktreeOutbox } from '../../project/store/worktree-outbox.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { linkDrafts } from '../../project/tasks/project-backlog.ts'
import { type EntryData, type EntryDraft, draftEntry } from '../../session/entries.ts'
import type { RawEntry } from '../../session/effective-entries.ts'
import { isSessionOpen } from '../../session/state.ts'
import { defined } from '../../text/defined.ts'

const BY = 'run'

export interface StoredHandoff {
  readonly id: string
  readonly text: string
  readonly hash: string
}

export interface InjectedHandoff extends Omit<StoredHandoff, 'hash'> {
  readonly isOfTask: boolean
  readonly moved: readonly string[]
}

/** One session of a run. Its journal decides which of its tasks are done. */
export class RunSession {
  readonly #session: LiveSession
  readonly #steps = new Map<string, string>()

  private constructor(
    private readonly workspace: Workspace,
    readonly id: string,
    readonly name: string,
  ) {
    this.#session = workspace.session(id)
  }

  static async open(
    workspace: Workspace,
    { shortname: name, title }: Task,
    goal: string,
  ): Promise<RunSession> {
    const { reading } = await initSession(workspace, { name, title, goal, by: BY })
    return new RunSession(workspace, reading.state.id, reading.state.name)
  }

  static reopen(workspace: Workspace, id: string): RunSession | undefined {
    const session = workspace.session(id)
    try {
      const { state } = session.read()
      if (!isSessionOpen(state)) return undefined
      const reopened = new RunSession(workspace, id, state.name)
      for (const step of state.steps.items)
        if (step.status !== 'done') reopened.#steps.set(step.text, step.id)
      return reopened
    } finally {
      session.close()
    }
  }

  static findClosingCommit(workspace: Workspace, id: string, task: string): string | undefined {
    const session = workspace.session(id)
    try {
      const move = session
        .read()
        .entries.findLast(
          ({ kind, by, data }) => kind === 'task.moved' && by === BY && data.task === task,
        )
      const last = move?.data as EntryData['task.moved'] | undefined
      return last?.status === 'completed' ? (last.git?.commit ?? '') : undefined
    } finally {
      session.close()
    }
  }

  /** The journal does not know a conversation whose runner was killed as it started. */
  recordConversationEnd(conversation: string, reason: string): void {
    const isKnown = this.#session
      .read()
      .entries.some(
        ({ kind, data }) => kind === 'conversation.joined' && data.conversation === conversation,
      )
    if (isKnown)
      this.append([draftEntry('conversation.ended', { conversation, reason }, { by: BY })])
  }

  startStep(task: Task): void {
    const text = stepText(task)
    const known = this.#steps.get(text)
    const step = known ?? this.#session.mint()
    this.#steps.set(text, step)
    const added =
      known === undefined
        ? [...linkDrafts([task], BY), draftEntry('step.added', { text }, { id: step, by: BY })]
        : []
    this.append([...added, draftEntry('step.started', { step }, { by: BY })])
  }

  append(drafts: readonly EntryDraft[]): readonly RawEntry[] {
    return this.#session.append(drafts)
  }

  /** A sandboxed agent can write entries only to the outbox in its own tree. */
  drainOutbox(): void {
    const { worktree } = this.workspace.paths.repository ?? {}
    if (worktree === undefined) return
    try {
      const { refused } = drainWorktreeOutbox(this.#session, worktree)
      if (refused > 0)
        this.workspace.say(
          `${refused} of what lies in ${WORKTREE_OUTBOX} is no entry of an agent and was set aside`,
        )
    } catch (error) {
      // The agent may leave anything there, which must not end the run.
      if (error instanceof StintError || errnoOf(error) === undefined) throw error
      this.workspace.say(
        `what the agent left in ${WORKTREE_OUTBOX} was not taken in: ${String(error)}`,
      )
    }
  }

  findReport(task: string, run: string, since: string) {
    this.drainOutbox()
    const claim = this.#session.read().entries.findLast(({ kind, id, data }) => {
      return kind === 'task.reported' && id > since && data.task === task && data.run === run
    })
    const data = claim?.data as EntryData['task.reported'] | undefined
    return data && { status: data.status, summary: data.summary ?? '' }
  }

  get lastEntry(): string {
    return this.#session.read().state.lastId
  }

  /** Closes the task and records its commits and files in one write. */
  complete(task: Task, summary: string, commit: string, more: readonly EntryDraft[]): void {
    const data = {
      task: task.id,
      status: 'completed' as const,
      ...(summary === '' ? {} : { summary }),
      git: { ...this.workspace.git(), commit },
    }
    const once = `done:${this.id}:${task.id}:${commit}`
    this.finishStep(task, [...more, draftEntry('task.moved', data, { by: BY, once })])
  }

  /** The step is done even if the task stays open, as a delegate's does. */
  finishStep(task: Task, more: readonly EntryDraft[]): void {
    this.append([...more, ...this.#stepEntry('step.done', task)])
  }

  recordNotDone(task: Task, status: 'failed' | 'blocked', summary: string): void {
    const data = {
      task: task.id,
      status,
      ...(summary === '' ? {} : { summary }),
      ...defined({ git: this.workspace.git() }),
    }
    this.append([
      draftEntry('task.moved', data, { by: BY }),
      ...this.#stepEntry('step.stopped', task),
    ])
  }

  #stepEntry(kind: 'step.done' | 'step.stopped', task: Task): readonly EntryDraft[] {
    const step = this.#steps.get(stepText(task))
    return step === undefined ? [] : [draftEntry(kind, { step }, { by: BY })]
  }

  async createHandoff(reason: string, conversation: string | undefined): Promise<StoredHandoff> {
    const { handoff } = await createHandoff(this.workspace, {
      session: this.id,
      reason,
      by: BY,
      ...defined({ conversation }),
    })
    return { id: handoff.id, text: handoff.document, hash: handoff.hash }
  }

  async acceptHandoff(handoff: string): Promise<InjectedHandoff> {
    const { id, text, moved } = await acceptHandoff(this.workspace, {
      handoff: `${this.id}/${handoff}`,
      force: true,
      by: BY,
    })
    return { id, text, isOfTask: true, moved }
  }

  async recordHandoffLoaded(handoff: string, hash: string): Promise<void> {
    this.append([draftEntry('handoff.accepted', { handoff, hash, outcome: 'loaded' }, { by: BY })])
    await this.refresh()
    this.release()
  }

  async refresh(): Promise<void> {
    await this.workspace.refreshIfPossible(this.#session)
  }

  /** Unlike `stint close` it moves no task: each has its own entry. */
  async close(reason: string, unfinished: readonly string[]): Promise<void> {
    this.drainOutbox()
    const git = this.workspace.git({ dirty: true })
    this.append([
      ...unfinished.map((task) => draftEntry('task.unlinked', { task }, { by: BY })),
      draftEntry('session.closed', { how: 'completed', reason, ...defined({ git }) }, { by: BY }),
    ])
    const reading = await this.workspace.refreshIfPossible(this.#session)
    this.#session.close()
    await afterSessionClosed(this.workspace, reading)
  }

  release(): void {
    this.#session.close()
  }
}

function stepText({ title, shortname }: Task): string {
  return title === '' ? shortname : title
}
