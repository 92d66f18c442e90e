import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readHead } from '../../git/head.ts'
import { GitFailed } from '../../git/run-git.ts'
import { dirtyPaths } from '../../git/status.ts'
import type { SessionIndex } from '../../index/open-index.ts'
import { messageOf } from '../../journal/errors.ts'
import type { EntryDraft, GitState } from '../../session/entries.ts'
import type { RawEntry } from '../../session/effective-entries.ts'
import type { SessionState } from '../../session/state.ts'
import { type Config, DEFAULT_CONFIG } from '../config/config.ts'
import { LiveSession, type SessionReading } from './live-session.ts'
import { drainIfPossible, sessionsWithOutbox } from './outbox.ts'
import {
  type ProjectPaths,
  findProjectPaths,
  logIds,
  logPaths,
  machineFolder,
  prepareSessionsFolder,
  restrictAccess,
} from './project-paths.ts'
import { readConfig } from '../config/read-config.ts'
import { refreshDocument } from './refresh-document.ts'
import { defined } from '../../text/defined.ts'

export interface WorkspaceOptions {
  /** Receives notices for the user: what was rebuilt, quarantined, redacted. */
  readonly say?: (line: string) => void
  readonly progress?: (done: number, total: number) => void
  readonly env?: NodeJS.ProcessEnv
}

export class Workspace {
  readonly paths: ProjectPaths
  readonly env: NodeJS.ProcessEnv
  readonly #options: WorkspaceOptions
  #index: SessionIndex | undefined
  #config: Config | undefined

  constructor(
    readonly cwd: string,
    options: WorkspaceOptions = {},
  ) {
    this.paths = findProjectPaths(cwd)
    restrictAccess(this.paths)
    this.env = options.env ?? process.env
    this.#options = options
  }

  /** Read at first use, so that a mistake in it stops a command before anything is written. */
  get config(): Config {
    this.#config ??= readConfig(this.paths)
    return this.#config
  }

  /** After the user agreed to it, or withdrew that. */
  forgetConfig(): void {
    this.#config = undefined
  }

  assumeDefaults(): void {
    this.#config = DEFAULT_CONFIG
  }

  say(line: string): void {
    this.#options.say?.(line)
  }

  hasSessions(): boolean {
    return existsSync(join(this.paths.sessions, 'journal')) || logIds(this.paths).size > 0
  }

  hasConversations(): boolean {
    return existsSync(join(this.paths.sessions, 'conversations'))
  }

  async index(): Promise<SessionIndex> {
    this.drainOutboxes()
    if (this.#index === undefined) {
      const { openIndex } = await import('../../index/open-index.ts')
      const { paths } = this
      const source = {
        folder: paths.sessions,
        keyPath: join(machineFolder(paths), 'index-key'),
        prepare: () => this.prepare(),
        project: paths.root,
        sessionIds: () => logIds(paths),
        log: (id: string) => logPaths(paths, id),
      }
      const { progress } = this.#options
      const wasMissing = !existsSync(join(paths.sessions, 'index.db'))
      this.#index = await openIndex(source, {
        report: (line) => this.say(line),
        ...defined({ progress }),
      })
      // With the first session the index is simply new.
      const { sessions } = this.#index.counts()
      if (wasMissing && sessions > 1)
        this.say(`the index was missing and is built again from ${sessions} journals`)
      // git pull and switch bring entries of other machines without marking them.
      if (this.config.share === 'git') this.#index.sync({ full: true })
    } else {
      this.#index.sync()
    }
    return this.#index
  }

  drainOutboxes(): void {
    for (const id of sessionsWithOutbox(this.paths)) this.session(id).close()
  }

  /** With its outbox drained. */
  session(id: string): LiveSession {
    const session = new LiveSession(id, this.paths, this.config, (kinds) =>
      this.say(`what looked like a secret was redacted (${kinds.join(', ')})`),
    )
    drainIfPossible(session)
    return session
  }

  prepare(): void {
    prepareSessionsFolder(this.paths, this.config)
  }

  /** Counting dirty paths starts git, so only when asked. */
  git(options: { dirty?: boolean } = {}): GitState | undefined {
    const { repository } = this.paths
    if (repository === undefined) return undefined
    const head = readHead(repository)
    if (options.dirty !== true) return head
    const dirty = this.unlessGitFails(
      'what is uncommitted is not known',
      () => dirtyPaths(repository.worktree).length,
    )
    return { ...head, ...defined({ dirty }) }
  }

  /** Reports a failure of git as a notice, for optional information. */
  unlessGitFails<T>(notice: string, work: () => T): T | undefined {
    try {
      return work()
    } catch (error) {
      if (!(error instanceof GitFailed)) throw error
      this.say(`${notice}: ${error.message}`)
      return undefined
    }
  }

  /** Undefined in the main worktree. */
  get worktree(): string | undefined {
    const { repository } = this.paths
    return repository?.isLinked === true ? repository.worktree : undefined
  }

  async refresh(
    session: LiveSession,
    options: { isDurable?: boolean } = {},
  ): Promise<SessionReading> {
    // The `share` setting may have changed.
    this.prepare()
    const { refreshViews } = await import('./refresh-views.ts')
    return this.#report(await refreshViews(session, options))
  }

  /** Never fails: the entries are already safe. */
  refreshIfPossible(session: LiveSession): Promise<SessionReading> {
    // Over MCP this note is what tells a model that the text is not the user's.
    if (session.isRefused)
      this.say('this journal came with the repository and was not written on this machine')
    return this.#readOnFailure(session, () => this.refresh(session))
  }

  /** Views are rendered only if edits were found: the append that follows renders them. */
  absorbEdits(session: LiveSession): Promise<SessionReading> {
    return this.#readOnFailure(session, async () => {
      const absorbed = await refreshDocument(session)
      const reading = this.#report(absorbed)
      return absorbed.entries > 0 ? this.refresh(session) : reading
    })
  }

  async withSession<T>(id: string, work: (session: LiveSession) => T | Promise<T>): Promise<T> {
    const session = this.session(id)
    try {
      return await work(session)
    } finally {
      session.close()
    }
  }

  /** The recent state, from the log's tail. */
  stateOf(id: string): SessionState {
    const session = this.session(id)
    const state = session.open()
    session.close()
    return state
  }

  /** The full session, edits absorbed and views rendered. */
  view(id: string): Promise<SessionReading> {
    return this.withSession(id, (session) => this.refreshIfPossible(session))
  }

  append(id: string, drafts: readonly EntryDraft[]): Promise<SessionReading> {
    return this.withSession(id, (session) => {
      session.append(drafts)
      return this.refreshIfPossible(session)
    })
  }

  /** Absorbs edits, appends what `draftsFor` returns for the result, and renders the views. */
  update(
    id: string,
    draftsFor: (reading: SessionReading, session: LiveSession) => readonly EntryDraft[],
  ): Promise<{ appended: readonly RawEntry[]; reading: SessionReading }> {
    return this.withSession(id, async (session) => {
      const appended = session.append(draftsFor(await this.absorbEdits(session), session))
      return { appended, reading: await this.refreshIfPossible(session) }
    })
  }

  #report({ notices, reading }: { notices: readonly string[]; reading: SessionReading }) {
    for (const notice of notices) this.say(notice)
    for (const { file, line, reason } of reading.damage)
      this.say(
        `${file}:${line} cannot be read (${reason}); every other entry is here, see stint doctor`,
      )
    return reading
  }

  async #readOnFailure(session: LiveSession, work: () => Promise<SessionReading>) {
    try {
      return await work()
    } catch (error) {
      this.say(`the views could not be written: ${messageOf(error)}`)
      return session.read()
    }
  }

  close(): void {
    this.#index?.close()
    this.#index = undefined
  }
}

export function hasHeadMoved(state: SessionState, git: GitState | undefined): git is GitState {
  return git !== undefined && (git.branch !== state.git.branch || git.commit !== state.git.commit)
}
