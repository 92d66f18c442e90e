// Which bodies a conversation has had, so that none is given twice, and what was saved by giving only those that were needed.
import type { Profile } from './profile.ts'

/** What the text of a task is told about its profile. */
export type ProfileExtra =
  | { readonly profile: { readonly name: string; readonly body: string } }
  | { readonly profileAgain: string }
  | Readonly<Record<string, never>>

export class ProfileLedger {
  readonly #indexed: readonly Profile[]
  /** Those that the model still has before it. */
  #present = new Set<string>()
  /** Those that this conversation was given at any time. */
  #loaded = new Set<string>()
  #notLoadedBefore = 0
  #conversations = 0

  constructor(indexed: readonly Profile[]) {
    this.#indexed = indexed
  }

  /** A fresh conversation has the index and no body. */
  beginConversation(): void {
    this.#notLoadedBefore = this.notLoaded
    this.#conversations += 1
    this.#present = new Set()
    this.#loaded = new Set()
  }

  /** After a compaction nobody knows what of a body is left. */
  forgetBodies(): void {
    this.#present = new Set()
  }

  /** What a task's text has to bring along; from then on this conversation has it. */
  give(profile: Profile | undefined): ProfileExtra {
    if (profile === undefined) return {}
    const { name, body } = profile
    if (this.#present.has(name)) return { profileAgain: name }
    this.#present.add(name)
    this.#loaded.add(name)
    return { profile: { name, body } }
  }

  /** Tokens of bodies that conversations had in their index and never got, over all conversations so far. */
  get notLoaded(): number {
    if (this.#conversations === 0) return 0
    const spared = this.#indexed.filter(({ name }) => !this.#loaded.has(name))
    return this.#notLoadedBefore + spared.reduce((sum, { tokens }) => sum + tokens, 0)
  }
}
