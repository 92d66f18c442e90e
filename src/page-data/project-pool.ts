// Projects are opened on demand and closed when idle.
import { createHash } from 'node:crypto'
import { basename, join } from 'node:path'
import {
  type Delegates,
  type Runs,
  projectDelegates,
  projectRuns,
} from '../run/control/project-runs.ts'
import type { startPrompt } from '../run/prompt/start-prompt.ts'
import { knownProjects } from '../index/projects.ts'
import { StintError, ignoreIoErrors } from '../journal/errors.ts'
import { isId } from '../journal/ids.ts'
import { listFolder, statOrUndefined } from '../journal/read-files.ts'
import { type ProjectOperations, projectOperations } from '../project/project-operations.ts'
import { findProjectPaths } from '../project/store/project-paths.ts'
import { Workspace, type WorkspaceOptions } from '../project/store/workspace.ts'
import { openConversationStore } from '../project/history/history.ts'
import { defined } from '../text/defined.ts'
import type { ProjectRow } from './page-types.ts'
import { ConversationCache } from './conversation-cache.ts'

/** A project that is held open for the page. */
export interface OpenedProject {
  readonly key: string
  readonly workspace: Workspace
  readonly project: ProjectOperations
  readonly runs: Runs
  readonly delegates: Delegates
  readonly conversations: ConversationCache
  prompt(
    request: Parameters<typeof startPrompt>[1],
    onEvent: Parameters<typeof startPrompt>[2],
  ): ReturnType<typeof startPrompt>
  /** Indexes conversations for this long; false when nothing is left to index. */
  indexConversations(ms: number): Promise<boolean>
}

type ProjectPoolOptions = Required<Pick<WorkspaceOptions, 'env' | 'say'>> & { readonly cwd: string }

const IDLE_MS = 5 * 60_000

export class ProjectPool {
  readonly here: string
  readonly #options: ProjectPoolOptions
  readonly #root: string
  readonly #opened = new Map<string, { readonly project: OpenedProject; timer?: NodeJS.Timeout }>()
  /** Held projects stay open. */
  readonly #held = new Map<string, number>()

  constructor(options: ProjectPoolOptions) {
    this.#options = options
    this.#root = findProjectPaths(options.cwd).root
    this.here = keyOfRoot(this.#root)
  }

  get(key: string | undefined): OpenedProject {
    const wanted = key || this.here
    const project = this.#opened.get(wanted)?.project ?? this.#open(wanted)
    if (!this.#opened.has(wanted)) this.#opened.set(wanted, { project })
    this.#closeWhenIdle(wanted)
    return project
  }

  #open(key: string): OpenedProject {
    const root = this.#roots().find((root) => keyOfRoot(root) === key)
    if (root === undefined) throw notFoundError('project of that key on this machine')
    const { cwd, env, say: log } = this.#options
    const isHere = key === this.here
    const workspace = new Workspace(isHere ? cwd : root, {
      env,
      say: (line) => log(isHere ? line : `${root}: ${line}`),
    })
    return {
      key,
      workspace,
      project: projectOperations(workspace),
      runs: projectRuns(workspace),
      delegates: projectDelegates(workspace),
      conversations: new ConversationCache(workspace, openConversationStore(workspace)),
      prompt: async (request, onEvent) =>
        (await import('../run/prompt/start-prompt.ts')).startPrompt(workspace, request, onEvent),
      indexConversations: async (ms) =>
        workspace.hasConversations() && (await workspace.index()).syncMessages(ms).bytesLeft > 0,
    }
  }

  /** Keeps a project open until the returned function is called. */
  hold(key: string): () => void {
    this.#held.set(key, (this.#held.get(key) ?? 0) + 1)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#held.set(key, (this.#held.get(key) ?? 1) - 1)
    }
  }

  opened(): readonly OpenedProject[] {
    return [...this.#opened.values()].map(({ project }) => project)
  }

  rows(): readonly ProjectRow[] {
    return this.#roots().map(toProjectRow)
  }

  close(): void {
    for (const key of this.#opened.keys()) this.#close(key)
  }

  #roots(): readonly string[] {
    return [...new Set([this.#root, ...knownProjects()])]
  }

  #closeWhenIdle(key: string): void {
    const opened = this.#opened.get(key)
    if (opened === undefined || key === this.here) return
    clearTimeout(opened.timer)
    opened.timer = setTimeout(() => {
      if ((this.#held.get(key) ?? 0) > 0) this.#closeWhenIdle(key)
      else this.#close(key)
    }, IDLE_MS).unref()
  }

  #close(key: string): void {
    const opened = this.#opened.get(key)
    clearTimeout(opened?.timer)
    opened?.project.workspace.close()
    this.#opened.delete(key)
  }
}

export function notFoundError(missing: string): StintError {
  return new StintError('NOT_THERE', `there is no ${missing}`)
}

/** The key of the project around a folder. */
export function projectKey(cwd: string): string {
  return keyOfRoot(findProjectPaths(cwd).root)
}

function keyOfRoot(root: string): string {
  return createHash('sha256').update(root).digest('hex').slice(0, 12)
}

/** Without opening the project. */
function toProjectRow(root: string): ProjectRow {
  const sessions = join(root, '.sessions')
  // A link is refused once the project is opened.
  const times = ['journal', 'touched', 'index.db'].flatMap(
    (name) =>
      ignoreIoErrors(() => statOrUndefined(join(sessions, name)))?.mtime.toISOString() ?? [],
  )
  const journals = ignoreIoErrors(() => listFolder(join(sessions, 'journal'))) ?? []
  return {
    key: keyOfRoot(root),
    name: basename(root),
    root,
    sessions: journals.filter(isId).length,
    ...defined({ updatedAt: times.toSorted().at(-1) }),
  }
}
