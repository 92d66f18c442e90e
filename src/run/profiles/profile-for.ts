import { line } from '../../backlog/canonical.ts'
import { proposeSpecialist, readSpecialist } from '../../backlog/specialist.ts'
import type { Task } from '../../backlog/task.ts'
import type { Profile } from './profile.ts'

export interface ChosenProfile {
  readonly profile: Profile
  /** What in the task speaks for it. */
  readonly because: string
}

type Chooser = Pick<Task, 'title' | 'description' | 'labels' | 'assignee'>

/** The profile of a name, or of the specialist that the name means. */
export function findProfile(name: string, profiles: readonly Profile[]): Profile | undefined {
  const word = line(name)
    .toLowerCase()
    .replace(/[\s-]agent$/, '')
  const specialist = readSpecialist(word)
  return (
    profiles.find((profile) => profile.name === word) ??
    profiles.find((profile) => profile.name === specialist)
  )
}

/** The profile that a task names, else the one that its labels or its words ask for; undefined where nothing asks for one. */
export function profileFor(task: Chooser, profiles: readonly Profile[]): ChosenProfile | undefined {
  const assigned = findProfile(task.assignee ?? '', profiles)
  if (assigned !== undefined) return { profile: assigned, because: `assigned to ${task.assignee}` }
  for (const label of task.labels) {
    const asking =
      profiles.find(({ labels }) =>
        labels.some((one) => one.toLowerCase() === label.toLowerCase()),
      ) ?? findProfile(label, profiles)
    if (asking !== undefined) return { profile: asking, because: `label ${label}` }
  }
  // Labels and assignee have been looked at; those that mean a specialist whose profile is not here must not decide again.
  const { specialist, because } = proposeSpecialist({
    title: task.title,
    description: task.description,
    labels: [],
  })
  const proposed = findProfile(specialist, profiles)
  // Writing code is what an agent does unasked: only a project that has its own say on it is worth the tokens.
  if (proposed === undefined || (specialist === 'code' && proposed.file === undefined))
    return undefined
  return { profile: proposed, because }
}

// Which bodies a conversation has had, so that none is given twice, and what was saved by giving only those that were needed.

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
