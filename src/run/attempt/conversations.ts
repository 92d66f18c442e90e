// The conversations of a session: opened with what is said once, replaced through a handoff.
import { estimateTokens } from '../../text/tokens.ts'
import { recorded } from '../../project/conversation/record-stream.ts'
import type { Conversation, OpenConversation } from '../../harness/contract/drive.ts'
import { pointFor } from '../../harness/registry.ts'
import { agentEnvironment } from './agent-environment.ts'
import { type RunContext, RunEnds, type TaskWork } from './run-context.ts'
import { LiveConversation, openUnlessStopped } from './live-conversation.ts'
import { ProfileLedger, profileFor } from '../profiles/profile.ts'
import { firstPrompt } from '../texts/setup-text.ts'
import { recorderFor } from './record-conversation.ts'
import type { GivenHandoff, RunSession } from './run-session.ts'
import { defined } from '../../text/defined.ts'
import { packSession } from '../../project/pack.ts'
import type { Backlog } from '../../backlog/backlog.ts'
import {
  type Failure,
  type TaskExtra,
  continueText,
  data,
  nameOf,
  quoted,
  restoreText,
  retryText,
  taskHead,
  taskText,
} from '../texts/task-text.ts'

export class Conversations {
  live: LiveConversation | undefined
  /** Which profiles the live conversation has had. */
  readonly ledger: ProfileLedger
  readonly #scene: RunContext
  #number: number
  /** What the conversation before left, until the first prompt has told it. */
  #given: GivenHandoff | undefined
  #isSetupOwed = false
  #notLoadedBefore = 0

  constructor(scene: RunContext, already: number) {
    this.#scene = scene
    this.#number = already
    this.ledger = new ProfileLedger(scene.profiles)
  }

  /** A conversation to prompt: the one that lives, or a new one. */
  async forSession(
    session: RunSession,
    given: { handoff?: GivenHandoff; resume?: string } = {},
  ): Promise<LiveConversation> {
    if (this.live !== undefined && !this.live.isDead) return this.live
    return (this.live = await this.#open(session, given))
  }

  /** The handoff that the next prompt has to pass on, once. */
  takeGiven(): GivenHandoff | undefined {
    const given = this.#given
    this.#given = undefined
    return given
  }

  /** The prompt with the set-up, when that has not been said yet. */
  withSetup(prompt: string): string {
    if (!this.#isSetupOwed) return prompt
    this.#isSetupOwed = false
    return firstPrompt(this.#scene.setup, prompt)
  }

  /** Ends the conversation; its session may go on in another. */
  async end(session: RunSession, because: string): Promise<void> {
    const { live } = this
    if (live === undefined) return
    this.live = undefined
    await live.close()
    const { log } = this.#scene
    log.append('conversation.ended', {
      number: live.number,
      because,
      profilesNotLoaded: this.ledger.notLoaded - this.#notLoadedBefore,
    })
    if (live.id !== undefined) session.left(live.id, because)
  }

  async #open(
    session: RunSession,
    { handoff, resume }: { handoff?: GivenHandoff; resume?: string },
  ): Promise<LiveConversation> {
    const { harness, log, settled, setup, tree, workspace, wrap } = this.#scene
    const { systemPrompt } = harness.capabilities
    const isResumed = resume !== undefined
    this.#isSetupOwed = !systemPrompt && !isResumed
    this.#given = handoff
    this.#notLoadedBefore = this.ledger.notLoaded
    // What was said once is gone with the conversation it was said in.
    if (!isResumed) this.ledger.beginConversation()
    const number = (this.#number += 1)
    let live: LiveConversation | undefined
    const opened = await this.#start({
      cwd: tree.tree,
      branch: tree.branch,
      env: agentEnvironment(this.#scene, session.id),
      permissions: settled.permissions,
      trace: (direction) => direction === 'from' && live?.heard(),
      allow: settled.allow,
      ...defined({ model: settled.model, wrap }),
      ...(systemPrompt ? { systemPrompt: setup } : {}),
      ...(isResumed ? { resume } : {}),
      ...defined({ decide: this.#scene.decide }),
    })
    log.append('conversation.opened', {
      number,
      session: session.id,
      process: opened.process,
      setup: isResumed ? 0 : estimateTokens(setup),
      ...(handoff === undefined ? {} : { handoff: handoff.id }),
      ...(isResumed ? { resumes: resume } : {}),
    })
    live = new LiveConversation(
      number,
      recorded(opened, await recorderFor(workspace, harness.name, tree.tree)),
      workspace.config.budget,
      pointFor(harness.name, workspace.env, tree.tree),
      harness.name,
    )
    return live
  }

  async #start(options: OpenConversation): Promise<Conversation> {
    const { harness, stopping } = this.#scene
    const opened = await openUnlessStopped(harness, options, stopping.now).catch(
      (error: unknown) => {
        throw new RunEnds('harness failed', error instanceof Error ? error.message : String(error))
      },
    )
    if (opened === 'stopped') throw new RunEnds('interrupted', 'stopped')
    return opened
  }
}

/** The session goes on in a fresh conversation that begins with its handoff. */
export async function startFresh(
  session: RunSession,
  conversations: Conversations,
  reason: string,
): Promise<void> {
  const { id } = await session.handOver(reason, conversations.live?.id)
  await conversations.end(session, reason)
  await conversations.forSession(session, { handoff: await session.takeUp(id) })
}

// What the next prompt about a task says, from what its conversation has had already.

/** The task, with what failed if it is not the first attempt, and with the handoff if this is a new conversation. */
export function attemptPrompt(
  scene: RunContext,
  conversations: Conversations,
  work: TaskWork,
  failure: Failure | undefined,
): string {
  const { task } = work
  const given = conversations.takeGiven()
  if (given === undefined) {
    if (failure === undefined) return taskText(task, extraFor(scene, conversations, work))
    // A conversation that has had nothing of the task cannot mend what it does not know.
    const isKnown = conversations.live?.hasHadTurn === true
    return isKnown
      ? retryText(task, failure)
      : continueText(task, { failure }, extraFor(scene, conversations, work))
  }
  const document = withMoved(given.text, given.moved)
  const extra = extraFor(scene, conversations, work)
  // Of the same task: whoever comes now goes on with it. Else it only tells of what was done before.
  if (given.isOfTask) return continueText(task, { document, ...defined({ failure }) }, extra)
  return `${taskText(task, extra)}\n\nWhat the conversation before this one left, for what you need of it:\n${quoted('handoff', data(document))}`
}

/** The turn was broken off, and not by the agent. */
export function goOnPrompt(
  scene: RunContext,
  conversations: Conversations,
  work: TaskWork,
  why: string,
): string {
  const given = conversations.takeGiven()
  if (given === undefined) {
    return `${taskHead(work.task)}\n\nThe turn was broken off (${why}). Go on with this task from where the work stands, report it, then end the turn.`
  }
  return continueText(
    work.task,
    { document: withMoved(given.text, given.moved) },
    extraFor(scene, conversations, work),
  )
}

/** After a compaction in the middle of the task: what was lost with it. */
export async function restorePrompt(
  scene: RunContext,
  conversations: Conversations,
  session: RunSession,
  work: TaskWork,
): Promise<string> {
  conversations.ledger.forgetBodies()
  const { text } = await packSession(scene.workspace, { session: session.id })
  const verify = verifyOf(scene)
  return restoreText(
    work.task,
    { context: text, ...defined({ verify }) },
    extraFor(scene, conversations, work),
  )
}

export function verifyOf({ settled, workspace }: RunContext): string | undefined {
  return settled.verify ?? workspace.config.verify
}

function extraFor(scene: RunContext, conversations: Conversations, { task }: TaskWork): TaskExtra {
  const backlog: Backlog | undefined = scene.latest.backlog
  const dependsOn = task.dependsOn.flatMap((id) => {
    const other = backlog?.byId.get(id)
    return other?.status === 'completed'
      ? [
          {
            name: nameOf(other),
            ...defined({ summary: other.summary }),
          },
        ]
      : []
  })
  const usualVerify = verifyOf(scene)
  return {
    ...(dependsOn.length === 0 ? {} : { dependsOn }),
    ...defined({ usualVerify }),
    ...(scene.delegate === undefined ? {} : { brief: scene.delegate.brief }),
    ...conversations.ledger.give(profileFor(task, scene.profiles)?.profile),
  }
}

function withMoved(text: string, moved: readonly string[]): string {
  return moved.length === 0
    ? text
    : [
        text,
        '',
        'Since it was written this has changed:',
        ...moved.map((line) => `- ${line}`),
      ].join('\n')
}
