// The conversations of a session: opened with what is said once, replaced through a handoff.
import { estimateTokens } from '../../text/tokens.ts'
import { recorded } from '../../project/conversation/record-stream.ts'
import type { Conversation, OpenConversation } from '../../harness/contract/drive.ts'
import { pointFor } from '../../harness/point-for.ts'
import { agentEnvironment } from './agent-environment.ts'
import { type RunContext, RunEnds } from './run-context.ts'
import { LiveConversation, openUnlessStopped } from './live-conversation.ts'
import { ProfileLedger } from '../profiles/profile.ts'
import { firstPrompt } from '../texts/setup-text.ts'
import { recorderFor } from './record-conversation.ts'
import type { GivenHandoff, RunSession } from './run-session.ts'
import { defined } from '../../text/defined.ts'

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
