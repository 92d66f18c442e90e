// A session of a run: the journal of one batch of tasks. What is written here is the truth about them.
import { StintError, errnoOf } from '../../journal/errors.ts'
import { type Draft, type EntryData, draft } from '../../session/entries.ts'
import { linkDrafts } from '../../project/tasks/backlog.ts'
import { acceptHandoff } from '../../project/handoff/accept.ts'
import { createHandoff } from '../../project/handoff/create.ts'
import { followClose } from '../../project/lifecycle/finish.ts'
import type { LiveSession } from '../../project/store/live-session.ts'
import { initSession } from '../../project/lifecycle/start.ts'
import { TREE_OUTBOX, absorbTree } from '../../project/store/tree-outbox.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import type { RawEntry } from '../../session/in-effect.ts'
import { isOpen } from '../../session/state.ts'
import type { Task } from '../../backlog/task.ts'
import { defined } from '../../text/defined.ts'

const BY = 'run'

export interface Report {
  readonly status: 'completed' | 'blocked' | 'failed'
  readonly summary: string
}

export interface GivenHandoff {
  readonly id: string
  readonly text: string
  /** It is about the very task that is gone on with. */
  readonly isOfTask: boolean
  /** What is no longer as it says. */
  readonly moved: readonly string[]
}

export class RunSession {
  readonly #workspace: Workspace
  readonly #session: LiveSession
  readonly #steps = new Map<string, string>()

  private constructor(
    workspace: Workspace,
    readonly id: string,
    readonly name: string,
    readonly number: number,
  ) {
    this.#workspace = workspace
    this.#session = workspace.session(id)
  }

  /** Begins a session in the run's tree for its first task. */
  static async open(
    workspace: Workspace,
    number: number,
    first: Task,
    goal: string,
  ): Promise<RunSession> {
    const { reading } = await initSession(workspace, {
      name: first.shortname,
      title: first.title,
      goal,
      by: BY,
    })
    return new RunSession(workspace, reading.state.id, reading.state.name, number)
  }

  /** Goes on with one that a run before its crash had opened; undefined when it has ended meanwhile. */
  static reopen(workspace: Workspace, id: string, number: number): RunSession | undefined {
    const session = workspace.session(id)
    try {
      const { state } = session.read()
      if (!isOpen(state)) return undefined
      const reopened = new RunSession(workspace, id, state.name, number)
      for (const step of state.steps.items)
        if (step.status !== 'done') reopened.#steps.set(step.text, step.id)
      return reopened
    } finally {
      session.close()
    }
  }

  /** The commit with which a run closed a task in a session, if it did. */
  static closedBy(workspace: Workspace, id: string, task: string): string | undefined {
    const session = workspace.session(id)
    try {
      const moves = session
        .read()
        .entries.filter(
          ({ kind, by, data }) => kind === 'task.moved' && by === BY && data.task === task,
        )
      const last = moves.at(-1)?.data as EntryData['task.moved'] | undefined
      return last?.status === 'completed' ? (last.git?.commit ?? '') : undefined
    } finally {
      session.close()
    }
  }

  /** A conversation of this session is over. One that the journal has not heard of, since the runner was killed just then, is none to tell of. */
  left(conversation: string, reason: string): void {
    const isKnown = this.#session
      .read()
      .entries.some(
        ({ kind, data }) => kind === 'conversation.joined' && data.conversation === conversation,
      )
    if (!isKnown) return
    this.append([draft('conversation.ended', { conversation, reason }, { by: BY })])
  }

  /** From now on the session is about this task too. */
  begin(task: Task): void {
    const known = this.#steps.get(stepText(task))
    const step = known ?? this.#session.mint()
    this.#steps.set(stepText(task), step)
    this.append([
      ...(known === undefined
        ? [
            ...linkDrafts([task], BY),
            draft('step.added', { text: stepText(task) }, { id: step, by: BY }),
          ]
        : []),
      draft('step.started', { step }, { by: BY }),
    ])
  }

  append(drafts: readonly Draft[]): readonly RawEntry[] {
    return this.#session.append(drafts)
  }

  /** Takes in what the agent left in its tree, where it may write nothing else. */
  takeIn(): void {
    const { worktree } = this.#workspace.place.repository ?? {}
    if (worktree === undefined) return
    try {
      const { refused } = absorbTree(this.#session, worktree)
      if (refused > 0)
        this.#workspace.say(
          `${refused} of what lies in ${TREE_OUTBOX} is no entry of an agent and was set aside`,
        )
    } catch (error) {
      // Whatever somebody has put there: it is not to end a run.
      if (error instanceof StintError || errnoOf(error) === undefined) throw error
      this.#workspace.say(
        `what the agent left in ${TREE_OUTBOX} was not taken in: ${String(error)}`,
      )
    }
  }

  /** What the agent has claimed about a task behind an entry. */
  reported(task: string, run: string, since: string): Report | undefined {
    this.takeIn()
    const claims = this.#session.read().entries.filter(({ kind, id, data }) => {
      return kind === 'task.reported' && id > since && data.task === task && data.run === run
    })
    const data = claims.at(-1)?.data as EntryData['task.reported'] | undefined
    return data === undefined ? undefined : { status: data.status, summary: data.summary ?? '' }
  }

  /** The newest entry: what comes later is later than this. */
  get lastEntry(): string {
    return this.#session.read().state.lastId
  }

  /** The one entry that closes the task; with it, in the same write, what the journal tells of it. */
  complete(task: Task, summary: string, commit: string, more: readonly Draft[]): void {
    const git = this.#workspace.git()
    this.finishStep(task, [
      ...more,
      draft(
        'task.moved',
        {
          task: task.id,
          status: 'completed',
          ...(summary === '' ? {} : { summary }),
          git: { ...git, commit },
        },
        { by: BY, once: `done:${this.id}:${task.id}:${commit}` },
      ),
    ])
  }

  /** The work on the task is done; whether the task is, is for somebody else to say. */
  finishStep(task: Task, more: readonly Draft[]): void {
    const step = this.#steps.get(stepText(task))
    this.append([
      ...more,
      ...(step === undefined ? [] : [draft('step.done', { step }, { by: BY })]),
    ])
  }

  /** The task is left: failed, blocked, or to go again elsewhere. */
  leave(
    task: Task,
    status: 'failed' | 'blocked' | 'ready',
    summary: string,
    more: readonly Draft[] = [],
  ): void {
    const git = this.#workspace.git()
    const step = this.#steps.get(stepText(task))
    this.append([
      ...more,
      draft(
        'task.moved',
        {
          task: task.id,
          status,
          ...(summary === '' ? {} : { summary }),
          ...defined({ git }),
        },
        { by: BY },
      ),
      ...(step === undefined ? [] : [draft('step.stopped', { step }, { by: BY })]),
    ])
  }

  /** The document by which whoever comes next goes on. */
  async handOver(
    reason: string,
    conversation: string | undefined,
  ): Promise<{ id: string; text: string; hash: string }> {
    const { handoff } = await createHandoff(this.#workspace, {
      session: this.id,
      reason,
      by: BY,
      ...defined({ conversation }),
    })
    return { id: handoff.id, text: handoff.document, hash: handoff.hash }
  }

  /** Takes up a handoff of this very session in a fresh conversation. */
  async takeUp(handoff: string): Promise<GivenHandoff> {
    const taken = await acceptHandoff(this.#workspace, {
      handoff: `${this.id}/${handoff}`,
      force: true,
      by: BY,
    })
    return { id: taken.id, text: taken.text, isOfTask: true, moved: taken.moved }
  }

  /** Says in this session's journal that another took its handoff up. */
  async passedOn(handoff: string, hash: string): Promise<void> {
    this.append([draft('handoff.accepted', { handoff, hash, outcome: 'loaded' }, { by: BY })])
    await this.refresh()
    this.release()
  }

  async refresh(): Promise<void> {
    await this.#workspace.refreshIfPossible(this.#session)
  }

  /** Ends the session. Unlike `stint close` it says nothing about tasks: each has its own entry already. */
  async close(reason: string, unfinished: readonly string[]): Promise<void> {
    this.takeIn()
    const git = this.#workspace.git({ dirty: true })
    this.append([
      ...unfinished.map((task) => draft('task.unlinked', { task }, { by: BY })),
      draft('session.closed', { how: 'completed', reason, ...defined({ git }) }, { by: BY }),
    ])
    const reading = await this.#workspace.refreshIfPossible(this.#session)
    this.#session.close()
    await followClose(this.#workspace, reading)
  }

  release(): void {
    this.#session.close()
  }
}

function stepText({ title, shortname }: Task): string {
  return title === '' ? shortname : title
}
