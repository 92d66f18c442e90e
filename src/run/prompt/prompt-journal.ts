// What the journal of a session tells of a prompt: what hooks would have recorded of it, once.
import { isAbsolute, relative } from 'node:path'
import type { Line } from '../../context/budget/stages.ts'
import { GitFailed } from '../../git/run-git.ts'
import type { HarnessEvent } from '../../harness/contract/drive.ts'
import { LONGEST_MESSAGE, clip } from '../../hook/clip.ts'
import { requestIn } from '../../hook/requests.ts'
import type { LiveSession } from '../../project/store/live-session.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import type { Gauge } from '../events.ts'
import { type Turn, compactedEntry, crossedEntry } from '../attempt/live-conversation.ts'
import { newCommits } from '../worktree/tree.ts'
import { type Draft, type EntryData, type EntryKind, draft } from '../../session/entries.ts'
import type { FirstWords } from './next-conversation.ts'
import { defined } from '../../text/defined.ts'

const BY = 'prompt'
const EDITING = /^(?:Edit|Write|MultiEdit|NotebookEdit|apply_patch|edit)$/

export class PromptJournal {
  readonly #workspace: Workspace
  readonly #session: LiveSession
  readonly #harness: string
  readonly #text: string
  readonly #edited = new Set<string>()
  readonly #headBefore: string | undefined
  #conversation: string | undefined
  #isRequestTold = false

  constructor(workspace: Workspace, session: LiveSession, harness: string, text: string) {
    this.#workspace = workspace
    this.#session = session
    this.#harness = harness
    this.#text = text
    this.#headBefore = workspace.git()?.commit
  }

  /** The conversation is there, or there again. */
  started(
    conversation: string,
    transcript: string | undefined,
    { given: context }: FirstWords,
  ): void {
    this.#conversation = conversation
    this.#append(
      entry('conversation.joined', {
        conversation,
        harness: this.#harness,
        source: BY,
        ...defined({ transcript }),
      }),
      ...(context === undefined
        ? []
        : [entry('context.given', { conversation, event: BY, ...context })]),
      ...this.#request(),
    )
  }

  used({ status, name, path }: Extract<HarnessEvent, { type: 'tool' }>): void {
    const root = this.#workspace.place.repository?.worktree ?? this.#workspace.place.root
    if (status !== 'completed' || path === undefined || !EDITING.test(name)) return
    const inside = isAbsolute(path) ? relative(root, path) : path
    if (inside === '' || inside.startsWith('..') || isAbsolute(inside) || this.#edited.has(inside))
      return
    this.#edited.add(inside)
    const isKnown = this.#session.open().changedFiles.items.some((file) => file.text === inside)
    if (!isKnown) this.#append(entry('file.changed', { path: inside }))
  }

  crossed(stage: Line, gauge: Gauge): void {
    if (this.#conversation !== undefined)
      this.#append(crossedEntry(BY, this.#conversation, stage, gauge))
  }

  compacted(event: Extract<HarnessEvent, { type: 'compaction' }>): void {
    this.#append(compactedEntry(BY, this.#conversation, event))
  }

  turnEnded({ said, spent, ended }: Turn): void {
    const conversation = this.#conversation
    // Of one that never came to be only what was asked for is worth telling.
    if (conversation === undefined) return this.#append(...this.#request())
    const words =
      said.trim() === '' ? {} : { said: clip(said.trim(), LONGEST_MESSAGE, this.#workspace.config) }
    const told = { conversation, ...words, ...defined({ failure: ended.failure }) }
    const models = Object.entries(spent)
    this.#append(
      ...(models.length === 0
        ? [entry('turn.ended', told)]
        : models.map(([model, usage]) => entry('turn.ended', { ...told, model, usage }))),
      ...this.#commits(),
    )
  }

  left(reason: string): void {
    const conversation = this.#conversation
    if (conversation !== undefined)
      this.#append(entry('conversation.ended', { conversation, reason }))
  }

  #request(): readonly Draft[] {
    if (this.#isRequestTold) return []
    this.#isRequestTold = true
    const request = requestIn(this.#text, this.#workspace.config)
    if (request === undefined) return []
    const rules = request.isRuling ? { isRuling: true } : {}
    return [
      entry('request.made', {
        text: request.text,
        ...rules,
        conversation: this.#conversation ?? '',
      }),
    ]
  }

  #commits(): readonly Draft[] {
    const { repository } = this.#workspace.place
    const git = this.#workspace.git()
    if (
      repository === undefined ||
      this.#headBefore === undefined ||
      git?.commit === this.#headBefore
    )
      return []
    try {
      return newCommits(repository.worktree, this.#headBefore).map(({ commit, subject }) =>
        draft(
          'commit.made',
          { commit, subject, git: { ...git, commit } },
          { by: BY, once: `commit:${commit}` },
        ),
      )
    } catch (error) {
      // What it began from may be gone, after a rebase for one.
      if (!(error instanceof GitFailed)) throw error
      return []
    }
  }

  #append(...drafts: readonly Draft[]): void {
    this.#session.append(drafts)
  }
}

function entry<K extends EntryKind>(kind: K, data: EntryData[K]): Draft {
  return draft(kind, data, { by: BY }) as Draft
}
