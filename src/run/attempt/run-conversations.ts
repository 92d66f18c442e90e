import { compactionPointFor } from '../../harness/registry.ts'
import { reasonOf } from '../../journal/errors.ts'
import { withRecorder } from '../../project/conversation/conversation-recorder.ts'
import { packSession } from '../../project/pack-session.ts'
import { defined } from '../../text/defined.ts'
import { estimateTokens } from '../../text/tokens.ts'
import { LoadedProfiles, profileFor } from '../profiles/profile.ts'
import { firstPrompt } from '../agent-prompts/setup-text.ts'
import {
  type TaskExtra,
  type TaskFailure,
  asData,
  continueText,
  restoreText,
  retryText,
  taskHead,
  taskText,
  taskWord,
  wrapInTag,
} from '../agent-prompts/task-text.ts'
import { type RunContext, RunEndedError, type TaskWork, agentEnvironment } from './run-context.ts'
import { LiveConversation, openUnlessStopped } from './live-conversation.ts'
import { recorderFor } from './record-conversation.ts'
import type { InjectedHandoff, RunSession } from './run-session.ts'

interface OpenOptions {
  readonly handoff?: InjectedHandoff
  readonly resume?: string
}

export class RunConversations {
  live: LiveConversation | undefined
  readonly #profiles: LoadedProfiles
  #pendingHandoff: InjectedHandoff | undefined
  #isSetupPending = false
  #notLoadedBefore = 0

  constructor(
    private readonly context: RunContext,
    private number: number,
  ) {
    this.#profiles = new LoadedProfiles(context.profiles)
  }

  async forSession(session: RunSession, opening: OpenOptions = {}): Promise<LiveConversation> {
    if (this.live !== undefined && !this.live.isDead) return this.live
    return (this.live = await this.#open(session, opening))
  }

  #takePendingHandoff(): InjectedHandoff | undefined {
    const handoff = this.#pendingHandoff
    this.#pendingHandoff = undefined
    return handoff
  }

  withSetup(prompt: string): string {
    if (!this.#isSetupPending) return prompt
    this.#isSetupPending = false
    return firstPrompt(this.context.setup, prompt)
  }

  async end(session: RunSession, because: string): Promise<void> {
    const { live } = this
    if (live === undefined) return
    this.live = undefined
    await live.close()
    const { id, number } = live
    const profilesNotLoaded = this.#profiles.notLoaded - this.#notLoadedBefore
    this.context.log.append('conversation.ended', { number, because, profilesNotLoaded })
    if (id !== undefined) session.recordConversationEnd(id, because)
  }

  async #open(session: RunSession, { handoff, resume }: OpenOptions): Promise<LiveConversation> {
    const { decide, harness, log, options, setup, stopping, tree, workspace, wrap } = this.context
    const { systemPrompt } = harness.capabilities
    const isResumed = resume !== undefined
    this.#isSetupPending = !systemPrompt && !isResumed
    this.#pendingHandoff = handoff
    this.#notLoadedBefore = this.#profiles.notLoaded
    if (!isResumed) this.#profiles.beginConversation()
    const number = (this.number += 1)
    let live: LiveConversation | undefined
    const conversationOptions = {
      cwd: tree.tree,
      branch: tree.branch,
      env: agentEnvironment(this.context, session.id),
      permissions: options.permissions,
      trace: (direction: 'from' | 'to') => direction === 'from' && live?.markActive(),
      allow: options.allow,
      ...(systemPrompt ? { systemPrompt: setup } : {}),
      ...defined({ model: options.model, wrap, resume, decide }),
    }
    const opened = await openUnlessStopped(harness, conversationOptions, stopping.now).catch(
      (error: unknown) => {
        throw new RunEndedError('harness failed', reasonOf(error))
      },
    )
    if (opened === 'stopped') throw new RunEndedError('interrupted', 'stopped')
    log.append('conversation.opened', {
      number,
      session: session.id,
      process: opened.process,
      setup: isResumed ? 0 : estimateTokens(setup),
      ...defined({ handoff: handoff?.id, resumes: resume }),
    })
    live = new LiveConversation(
      number,
      withRecorder(opened, await recorderFor(workspace, harness.name, tree.tree)),
      workspace.config.budget,
      compactionPointFor(harness.name, workspace.env, tree.tree),
      harness.name,
    )
    return live
  }

  /** Continues the session in a fresh conversation that begins with its handoff. */
  async startFresh(session: RunSession, reason: string): Promise<void> {
    const { id } = await session.createHandoff(reason, this.live?.id)
    await this.end(session, reason)
    await this.forSession(session, { handoff: await session.acceptHandoff(id) })
  }

  /** The task prompt, with the failure of the last attempt and, in a new conversation, the handoff. */
  attemptPrompt({ task }: TaskWork, failure: TaskFailure | undefined): string {
    const handoff = this.#takePendingHandoff()
    const isKnown = this.live?.hasHadTurn === true
    if (handoff === undefined && failure !== undefined && isKnown) return retryText(task, failure)
    const extra = this.#extraFor(task)
    if (handoff === undefined)
      return failure === undefined ? taskText(task, extra) : continueText(task, { failure }, extra)
    const document = withChanges(handoff)
    if (handoff.isOfTask) return continueText(task, { document, ...defined({ failure }) }, extra)
    return `${taskText(task, extra)}\n\nWhat the conversation before this one left, for what you need of it:\n${wrapInTag('handoff', asData(document))}`
  }

  /** The prompt after a turn that the agent did not end itself. */
  continuePrompt({ task }: TaskWork, why: string): string {
    const handoff = this.#takePendingHandoff()
    return handoff === undefined
      ? `${taskHead(task)}\n\nThe turn was broken off (${why}). Go on with this task from where the work stands, report it, then end the turn.`
      : continueText(task, { document: withChanges(handoff) }, this.#extraFor(task))
  }

  /** Restores what a compaction in mid-task has dropped. */
  async restorePrompt(session: RunSession, { task }: TaskWork): Promise<string> {
    this.#profiles.forgetBodies()
    const { text: packed } = await packSession(this.context.workspace, { session: session.id })
    const extra = this.#extraFor(task)
    return restoreText(task, { context: packed, ...defined({ verify: extra.usualVerify }) }, extra)
  }

  #extraFor(task: TaskWork['task']): TaskExtra {
    const { delegate, latest, profiles, options, workspace } = this.context
    const dependsOn = task.dependsOn.flatMap((id) => {
      const other = latest.backlog?.byId.get(id)
      return other?.status === 'completed'
        ? [{ name: taskWord(other), ...defined({ summary: other.summary }) }]
        : []
    })
    const usualVerify = options.verify ?? workspace.config.verify
    return {
      ...(dependsOn.length === 0 ? {} : { dependsOn }),
      ...defined({ usualVerify, brief: delegate?.brief }),
      ...this.#profiles.inject(profileFor(task, profiles)?.profile),
    }
  }
}

function withChanges({ text, moved }: InjectedHandoff): string {
  if (moved.length === 0) return text
  const lines = moved.map((line) => `- ${line}`)
  return [text, '', 'Since it was written this has changed:', ...lines].join('\n')
}
